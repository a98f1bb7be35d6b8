# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The parts of the fabric world: topology, simulator, subnet manager, programs in it. Sourced by
# world, which sets dir and -e.
# shellcheck disable=SC2030,SC2031,SC2153,SC2154,SC2164

# shellcheck source=scripts/servers.sh
. "$top/scripts/servers.sh"
# shellcheck source=scripts/after.sh
. "$top/scripts/after.sh"

# parts_of BUILD: where the parts that are compiled lie: of an installed lab beside the scripts.
parts_of() {
	if [ -e "$top/meson.build" ]; then echo "$1/tests/fabric"; else echo "$top/lib"; fi
}

# need_tools WHO STATUS: says so and ends the script with that status where they are neither to be fetched nor installed.
need_tools() {
	servers_need
	if ! (servers_use; command -v ibsim && command -v opensm) >/dev/null || [ -z "$(umad2sim)" ]; then
		echo "$1: needs ibsim, umad2sim and opensm: installed, or fetched by apt-get into $cache" >&2
		exit "$2"
	fi
	[ -e "$RAI_FABRIC_PARTS/librcm_sim_umad.so" ] || {
		echo "world: $RAI_FABRIC_PARTS/librcm_sim_umad.so is not built" >&2
		exit 1
	}
}

preload_list() { echo "$RAI_FABRIC_PARTS/librcm_sim_umad.so $(umad2sim)"; }

# Switches of 100 hosts, and two above them that have a port to each.
topology_of_many() {
	local hosts=$1 leaves i leaf
	leaves=$(((hosts + 99) / 100))
	for leaf in 1 2; do
		printf 'Switch\t%d "top%d"\n' "$leaves" "$leaf"
		for ((i = 1; i <= leaves; i++)); do printf '[%d]\t"sw%d"[%d]\n' "$i" "$i" "$((100 + leaf))"; done
		printf '\n'
	done
	for ((leaf = 1; leaf <= leaves; leaf++)); do
		printf 'Switch\t102 "sw%d"\n' "$leaf"
		for ((i = 1; i <= 100; i++)); do
			((100 * (leaf - 1) + i > hosts)) || printf '[%d]\t"hca%d"[1]\n' "$i" "$((100 * (leaf - 1) + i))"
		done
		printf '[101]\t"top1"[%d]\n[102]\t"top2"[%d]\n\n' "$leaf" "$leaf"
	done
	for ((i = 1; i <= hosts; i++)); do
		printf 'Hca\t1 "hca%d"\n[1]\t"sw%d"[%d]\n\n' "$i" "$(((i + 99) / 100))" "$(((i - 1) % 100 + 1))"
	done
}

# One switch, one port a host. ibsim separates nodes by empty lines, and needs the tabs.
topology() {
	local hosts=$1 i
	[ "$hosts" -le 100 ] || { topology_of_many "$hosts"; return; }
	printf 'Switch\t%d "sw1"\n' "$((hosts < 8 ? 8 : hosts))"
	for ((i = 1; i <= hosts; i++)); do printf '[%d]\t"hca%d"[1]\n' "$i" "$i"; done
	for ((i = 1; i <= hosts; i++)); do
		printf '\nHca\t1 "hca%d"\n[1]\t"sw1"[%d]\n' "$i" "$i"
	done
}

# Short times, so that a handover takes a second and not forty.
osm_config() {
	printf '%s\n' 'force_log_flush TRUE' 'sminfo_polling_timeout 200' \
		'polling_retry_number 2' 'sweep_interval 1' "$@"
}

# await FILE PATTERN PID: until the file has a line that matches; 1 if the process ends before it
# or after 60 s. tail follows the file by inotify and ends with the process.
await() {
	local file=$1 pattern=$2 pid=$3 tail_pid rc=0
	coproc TAIL { exec tail -n +1 -s 0.1 --pid="$pid" -F "$file" 2>/dev/null; }
	tail_pid=$TAIL_PID
	timeout 60 grep -q -m1 -e "$pattern" <&"${TAIL[0]}" || rc=1
	kill "$tail_pid" 2>/dev/null || true
	wait "$tail_pid" 2>/dev/null || true
	return "$rc"
}

# gone PID SECONDS: until the process has ended, whoever's child it is; 1 after that time.
gone() { timeout "$2" tail -s 0.02 --pid="$1" -f /dev/null; }

# ibsim reads its console from a FIFO that it holds open itself: at the end of its input it spins.
fabric_up() {
	mkfifo "$dir/console"
	(cd "$dir" && servers_use && exec ibsim -s net.topo <>console >ibsim.log 2>&1) &
	echo $! >"$dir/ibsim.pid"
	disown
	await "$dir/ibsim.log" 'simulator ready' $! || { cat "$dir/ibsim.log" >&2; exit 1; }
}

console() { printf '%s\n' "$1" >"$dir/console"; }

# end PIDFILE SIGNAL: ends the process, if need be the hard way.
end() {
	local pid
	[ -e "$1" ] || return 0
	pid=$(<"$1")
	kill "-$2" "$pid" 2>/dev/null || true
	kill -CONT "$pid" 2>/dev/null || true
	gone "$pid" 5 || { kill -KILL "$pid" 2>/dev/null; gone "$pid" 5; } || true
	rm -f "$1"
}

# strays: the processes that were started in this world, or by what was. This script isn't among them.
strays() { { grep -lszxF "RAI_FABRIC_DIR=$dir" /proc/[0-9]*/environ || true; } | cut -d / -f 3; }

# end_strays SIGNAL SECONDS: and waits for their end that long.
end_strays() {
	local pid pids
	mapfile -t pids < <(strays)
	[ ${#pids[@]} -gt 0 ] || return 0
	kill "-$1" "${pids[@]}" 2>/dev/null
	for pid in "${pids[@]}"; do gone "$pid" "$2"; done
}

# fabric_gone: what is left of a world whose script was killed.
fabric_gone() { [ ! -e "$dir" ] || fabric_down; }

fabric_down() {
	local f
	set +e
	trap '' INT TERM
	for f in "$dir"/sm.*.pid; do end "$f" KILL; done
	end "$dir/ibsim.pid" TERM
	end_strays TERM 2
	end_strays KILL 2
	if [ -n "$keep" ]; then echo "world: kept $dir" >&2; else rm -rf "$dir"; fi
}

sm_start() {
	local host=$1 wait=$2 log=$dir/sm.$1.log pid
	mkdir -p "$dir/sm.$host"
	rm -f "$log"
	(
		cd "$dir/sm.$host"
		servers_use
		export SIM_HOST=$host OSM_TMP_DIR=. OSM_CACHE_DIR=. LD_PRELOAD
		LD_PRELOAD=$(<"$dir/preload")
		exec opensm -g 0 -F "$dir/osm.conf" -f "$log" >"$dir/sm.$host.out" 2>&1 </dev/null
	) &
	pid=$!
	disown
	echo "$pid" >"$dir/sm.$host.pid"
	[ -z "$wait" ] || await "$log" 'SUBNET UP\|Entering STANDBY' "$pid" || {
		cat "$dir/sm.$host.out" "$log" >&2
		exit 1
	}
}

sm_end() { end "$dir/sm.$1.pid" "$2"; }

# pause_process PID: stops it, and is back once every thread of it stands: a running one may answer once more before.
pause_process() {
	local stat
	kill -STOP "$1"
	while stat=$(cat /proc/"$1"/task/*/stat) && grep -qvE '\) [Tt] ' <<<"$stat"; do :; done
}

# The runtime of a sanitizer has to come first of all that is loaded.
sanitizer_of() { ldd "$1" 2>/dev/null | awk '$1 ~ /^lib(a|t|ub)san\.so/ { print $3 }' | tr '\n' ' '; }

# host_known NAME: ends the script where the world has no such host, of which the simulator says nothing.
host_known() { grep -qF "\"$1\"" "$dir/net.topo" || { echo "world: no host $1" >&2; exit 2; }; }

# run_on HOST PROGRAM...: this shell becomes the program, so that a signal to the one is one to the other.
run_on() {
	local host=$1 program
	host_known "$host"
	program=$(type -P -- "$2") || { echo "world: no program $2" >&2; return 127; }
	program=$(realpath -- "$program")
	shift 2
	case ${TSAN_OPTIONS-} in
	*suppressions=*) ;;
	*)
		[ ! -e "$here/../../tests/fabric/tsan.supp" ] ||
			export TSAN_OPTIONS="suppressions=$here/../../tests/fabric/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
		;;
	esac
	# umad2sim makes its copy of sysfs in the working directory.
	cd "$dir" || return
	LD_PRELOAD="$(sanitizer_of "$program")$(<"$dir/preload")"
	export SIM_HOST=$host RAI_SIM_LIVE=1 LD_PRELOAD
	exec "$program" "$@"
}
