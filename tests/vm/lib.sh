# SPDX-License-Identifier: BSD-2-Clause
# Helpers of the guest's suites: results, layouts of links and RDMA devices, waiting for a thing to be there.
#
# The guest is ours alone, so layouts are laid and cleared without asking who else uses them.

WORK=/run/work
OUT=$WORK/out
# shellcheck source=scripts/vm/soft-roce.sh
. "$TOP/scripts/vm/soft-roce.sh"

# --- results -------------------------------------------------------------------------------------------------------

ok() { echo "ok $1" >> "$WORK/results"; }
not_ok() { echo "not ok $1 # ${2:-failed}" >> "$WORK/results"; }
skip() { echo "ok $1 # SKIP ${2:-}" >> "$WORK/results"; }

# check NAME SECONDS COMMAND...: one test; what it prints is kept in out/NAME.log.
check() {
	local name=$1 seconds=$2 status=0
	shift 2
	mkdir -p "$(dirname "$OUT/$name")"
	timeout -k 2 "$seconds" "$@" > "$OUT/$name.log" 2>&1 || status=$?
	case $status in
	0) ok "$name" ;;
	77) skip "$name" "$(tail -n 1 "$OUT/$name.log")" ;;
	124 | 137) not_ok "$name" "hang: not done in $seconds s" ;;
	*) not_ok "$name" "status $status: $(tail -n 1 "$OUT/$name.log")" ;;
	esac
}

# tap PREFIX SECONDS PROGRAM...: runs a program that prints "ok NAME" and "not ok NAME # why" lines of its own.
tap() {
	local prefix=$1 seconds=$2 status=0 log
	shift 2
	log=$OUT/$prefix-$(basename "${@: -1}").log
	mkdir -p "$(dirname "$log")"
	timeout -k 2 "$seconds" "$@" > "$log" 2>&1 || status=$?
	sed -n -E "s|^(ok\|not ok) |\1 $prefix/|p" "$log" >> "$WORK/results"
	case $status in
	0) ;;
	1) grep -q '^not ok ' "$log" || not_ok "$prefix" "ended with 1 and no test failed" ;;
	124 | 137) not_ok "$prefix" "hang: not done in $seconds s" ;;
	*) not_ok "$prefix" "status $status: $(tail -n 1 "$log")" ;;
	esac
}

# sanitized SANITIZER: the programs that have most to lose, in their build under it.
sanitized() {
	local built=$TOP/build-$1 program
	layout_one
	for program in threads migrate life; do
		LD_LIBRARY_PATH=$built/src tap "$1/$program" 240 "$built/tests/vm/vm_$program"
	done
	LD_LIBRARY_PATH=$built/src tap "$1/device" 120 "$built/tests/vm/vm_device" \
		test_connections_work_while_another_device_comes_and_goes
}

has_listener() { rdma resource show cm_id | grep 'state LISTEN' > /dev/null; }
has_tcp_listener() { [ -n "$(ss -Hltn "sport = :$1")" ]; }

# --- layouts -------------------------------------------------------------------------------------------------------

# Layout "one": one device; every program talks to the guest's own addresses through it.
layout_one() {
	link_pair v0 v1
	address v0 10.2.0.1/24 fd02::1/64 fe80::1/64
	address v1 10.2.1.1/24
	rxe rxe0 v0
	wait_for 10 has_gid rxe0 '0a02:0001'
	wait_for 10 has_gid rxe0 'fd02:'
	ip route add 239.0.0.0/8 dev v0
}

# Layout "links": two devices, and the same link-local address on both links, so that only the scope tells them apart.
layout_links() {
	link_pair a0 a1
	link_pair b0 b1
	address a0 10.3.0.1/24 fe80::5/64
	address b0 10.4.0.1/24 fe80::5/64
	rxe rxea a0
	rxe rxeb b0
	wait_for 10 has_gid rxeb '0a04:0001'
}

# Layout "netns": a device on each end of a veth pair, one end in the namespace "far". Fails where the kernel's
# Soft-RoCE knows only the first namespace.
layout_netns() {
	ip netns add far
	ip -n far link set lo up
	link_pair n0 n1 far
	address n0 10.5.0.1/24
	ip -n far addr add 10.5.0.2/24 dev n1
	rxe rxen n0
	ip netns exec far rdma link add rxef type rxe netdev n1
	wait_for 10 ip netns exec far busybox ping -c 1 -W 1 10.5.0.1
}

layout_clear() {
	local device link
	for device in /sys/class/infiniband/*; do
		[ ! -e "$device" ] || rdma link del "${device##*/}"
	done
	[ ! -e /run/netns/far ] || ip netns del far
	for link in v0 a0 b0 n0 x0; do
		[ ! -e "/sys/class/net/$link" ] || ip link del "$link"
	done
}

# churn DEVICE LINK STOPFILE: removes and adds a device until the file is there; prints how often.
churn() {
	local count=0
	until [ -e "$3" ]; do
		rdma link del "$1" 2>/dev/null || true
		rdma link add "$1" type rxe netdev "$2" 2>/dev/null || true
		count=$((count + 1))
		sleep 0.02
	done
	has_device "$1" || rxe "$1" "$2"
	echo "removed and added $count times"
}
