# SPDX-License-Identifier: BSD-2-Clause
# Synchronous calls where messages of the connection manager are lost, between two namespaces.
#
# Soft-RoCE sends in other namespaces than the first since Linux 7. A message is a MAD: its attribute is told by the 16
# bits after the headers of IPv4 (20 bytes), UDP (8), BTH (12), DETH (8), and 16 of the MAD's own.

# loses NETNS LINK ATTRIBUTE...: drops these messages, of those that LINK receives: who sends them isn't to know. "near"
# is the first namespace.
loses() {
	local in=() link=$2 attribute
	[ "$1" = near ] || in=(ip netns exec "$1")
	shift 2
	for attribute in "$@"; do
		"${in[@]}" tc filter add dev "$link" ingress protocol ip u32 match u16 "$attribute" 0xffff at 64 action drop
	done
}

loss_test() {
	LD_LIBRARY_PATH=$LIBRARY tap loss 300 "${PROGRAMS}loss" "$1"
}

[ "$KERNEL" != bookworm ] || return 0
modprobe -qa sch_ingress cls_u32 act_gact || true
layout_netns
tc qdisc add dev n0 clsact
ip netns exec far tc qdisc add dev n1 clsact

MRA=0x0011 REJ=0x0012 REP=0x0013 RTU=0x0014 DREQ=0x0015
loses near n0 $RTU
loss_test test_accept_ends_when_the_peer_disconnects_and_its_rtu_was_lost
tc filter del dev n0 ingress

# The others end when the kernel has tried often enough, after more than a minute: all at once.
rm -f /run/loss.ready /run/loss.go
mkfifo /run/loss.go
loss_test test_disconnect_ends_when_the_dreq_is_lost &
wait_for 30 test -e /run/loss.ready
loses near n0 $DREQ
loses far n1 $MRA $REJ $REP
# Opened, not written to: the reader waits for no more than that, and may be gone again.
[ ! -e /run/loss.ready ] || : > /run/loss.go
loss_test test_connect_and_accept_end_when_the_rep_is_lost &
loss_test test_connect_ends_when_the_reject_is_lost &
wait
