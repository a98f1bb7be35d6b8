# SPDX-License-Identifier: BSD-2-Clause
# Devices that come, go, hide and are forbidden: every test on the layout as it was.
devices_restore() {
	local node
	for node in /dev/hidden-*; do
		[ ! -e "$node" ] || mv "$node" "/dev/infiniband/${node##*hidden-}"
	done
	load_modules
	chmod 666 /dev/infiniband/rdma_cm
	! has_device rxe1 || rdma link del rxe1
	has_device rxe0 || rxe rxe0 v0
	wait_for 10 has_gid rxe0 '0a02:0001'
}

layout_one
for test in $("${PROGRAMS}device" --list); do
	LD_LIBRARY_PATH=$LIBRARY tap devices 60 "${PROGRAMS}device" "$test"
	devices_restore
done
