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
	! has_device other1 || rdma link del other1
	has_device rxe0 || rxe rxe0 v0
	wait_for 10 has_gid rxe0 '0a02:0001'
}

# As a newly booted server: the first program that wants the connection manager finds its module not loaded.
rping_loads_the_module() {
	rmmod rdma_ucm || return
	LD_LIBRARY_PATH=$LIBRARY rping -s -a 10.2.0.1 -C 3 &
	wait_for 10 has_listener
	LD_LIBRARY_PATH=$LIBRARY rping -c -a 10.2.0.1 -C 3 -v
	wait
}

export -f rping_loads_the_module wait_for has_listener
export LIBRARY

layout_one
check devices/rping_loads_the_module 60 bash -c rping_loads_the_module
devices_restore
for test in $("${PROGRAMS}device" --list); do
	LD_LIBRARY_PATH=$LIBRARY tap devices 60 "${PROGRAMS}device" "$test"
	devices_restore
done
# On the system's library it isn't there.
[ ! -x "${PROGRAMS}alerts" ] || for test in $("${PROGRAMS}alerts" --list); do
	tap devices 60 "${PROGRAMS}alerts" "$test"
	devices_restore
done
