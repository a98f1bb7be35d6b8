# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced in a guest, which is ours alone: tools that the host lacks, modules, addresses, Soft-RoCE devices.

# guest_tools ROOT: programs that the host lacks, from where the servers were unpacked, with their own libraries; the
# kernel, too, looks for modprobe there, often and in a hurry.
guest_tools() {
	local root=$1 tool
	for tool in sbin/modprobe sbin/rmmod usr/sbin/dnsmasq; do
		[ ! -e "/$tool" ] && [ -e "$root/$tool" ] || continue
		printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' \
			"$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" "$root/$tool" > "/$tool"
		chmod 755 "/$tool"
	done
}

# wait_for SECONDS COMMAND...: tries until the command succeeds.
wait_for() {
	local deadline=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@" > /dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

has_device() { [ -e "/sys/class/infiniband/$1" ]; }
has_gid() { grep -q "$2" "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null; }

load_modules() {
	# Without crc32_generic rdma_rxe of 6.1 refuses every link; some modules are built in on newer kernels.
	modprobe -qa crc32_generic veth dummy ib_uverbs rdma_ucm ib_umad rdma_rxe || true
	wait_for 10 test -e /dev/infiniband/rdma_cm
}

# link_pair A B [NETNS]: a veth pair A-B, both up, without addresses that come and go; B in NETNS when given.
link_pair() {
	sysctl -qw net.ipv6.conf.default.accept_dad=0
	ip link add "$1" type veth peer name "$2"
	ip link set "$1" up
	if [ -n "${3:-}" ]; then
		ip link set "$2" netns "$3"
		ip -n "$3" link set "$2" up
	else
		ip link set "$2" up
	fi
}

# address LINK ADDRESS/LENGTH...
address() {
	local link=$1 one
	shift
	for one in "$@"; do ip addr add "$one" dev "$link" nodad 2>/dev/null || ip addr add "$one" dev "$link"; done
}

# rxe NAME LINK: a Soft-RoCE device on LINK, usable when this returns.
rxe() {
	rdma link add "$1" type rxe netdev "$2"
	wait_for 10 has_device "$1"
}
