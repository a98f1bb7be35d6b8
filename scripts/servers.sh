# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: where the servers of tests and demo are.

: "${top:?}"
# shellcheck source=scripts/cache.sh
. "$top/scripts/cache.sh"
# shellcheck disable=SC2154
servers_root=$cache/servers/root

# servers_need: fetches them, unless they are there; where that can't be, those of the host must do.
servers_need() { "$top/scripts/fetch-servers" 1>&2 || servers_root=; }

# servers_use: the shell that calls it, and what it starts, finds the servers and their libraries. For a subshell that
# becomes a server: the program under test keeps the host's libraries.
servers_use() {
	PATH=$PATH:/usr/sbin:/sbin
	[ -e "$servers_root" ] || return 0
	PATH=$servers_root/usr/sbin:$servers_root/usr/bin:$servers_root/sbin:$servers_root/bin:$PATH
	export LD_LIBRARY_PATH=$servers_root/usr/lib/x86_64-linux-gnu:$servers_root/lib/x86_64-linux-gnu
}

# umad2sim: the path of ibsim's library that stands for umad devices, and of the one that it needs in the cache.
umad2sim() {
	local f
	for f in "$servers_root"/usr/lib/*/umad2sim/libumad2sim.so /usr/lib/*/umad2sim/libumad2sim.so \
		/usr/lib{64,}/umad2sim/libumad2sim.so; do
		[ -e "$f" ] || continue
		case $f in
		"$servers_root"/*) echo "$f ${f%/*/*}/libibmad.so.5" ;;
		*) echo "$f" ;;
		esac
		return
	done
}
