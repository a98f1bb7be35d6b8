# SPDX-License-Identifier: BSD-2-Clause
# Devices that come, go, hide and are forbidden: every test on a guest that is as new.
devices_restore() {
	local node
	for node in /dev/hidden-*; do
		[ ! -e "$node" ] || mv "$node" "/dev/infiniband/${node##*hidden-}"
	done
	load_modules
	chmod 666 /dev/infiniband/rdma_cm
}

for test in $("${PROGRAMS}device" --list); do
	layout_one
	LD_LIBRARY_PATH=$LIBRARY tap devices 60 "${PROGRAMS}device" "$test"
	devices_restore
	layout_clear
done
