# SPDX-License-Identifier: BSD-2-Clause
# Rates of the library under test, of the system's, and of the newest one that Debian has, taken in turns in one guest.
#
# Lines of bench.tsv: what, library, a number a second. bench/vm-run makes the medians and ratios.
layout_one
peer=$TOP/.cache/vm/peer
cp "$peer"/usr/lib/x86_64-linux-gnu/libibverbs/* /usr/lib/x86_64-linux-gnu/libibverbs/

# Each in a folder of its own in the guest's memory: looking for libraries on the host's file system takes long, and
# who is found by a path would pay that for every library there is.
mkdir -p /run/bench/rai /run/bench/system
cp -L "$LIBRARY/librdmacm.so.1" /run/bench/rai/
cp -L /usr/lib/x86_64-linux-gnu/librdmacm.so.1 /run/bench/system/

# bench_with LIBRARY PROGRAM...
bench_with() {
	local library=$1
	shift
	case $library in
	peer) "$peer/run" "$@" ;;
	*) LD_LIBRARY_PATH=/run/bench/$library "$@" ;;
	esac
}

# Where instructions are counted, less time and fewer rounds tell as much; but cmtime waits for timers most of its time.
slice=1
[ -z "$COUNTED" ] || slice=0.03

bench_micro() { bench_with "$2" "$MICRO" "$1" $slice 2> "$OUT/micro.$1.$2.log"; }

# Connections a second by cmtime: 500 of them, over the time from the client's start to its end.
bench_cmtime() {
	local began server seconds count=500 status=0
	bench_with "$1" /usr/bin/cmtime -b 10.2.0.1 > /dev/null 2>&1 &
	server=$!
	wait_for 5 has_listener
	began=${EPOCHREALTIME/./}
	bench_with "$1" timeout 60 /usr/bin/cmtime -s 10.2.0.1 -c $count > "$OUT/cmtime.$1.log" 2>&1 || status=$?
	seconds=$((${EPOCHREALTIME/./} - began))
	# Also after a failure: a server that stays holds the device, which then can't be cleared.
	pkill -KILL cmtime
	wait $server 2>/dev/null
	[ $status = 0 ] || return $status
	echo $((count * 1000000 / seconds))
}

bench_one() {
	local what=$1 library=$2 number
	shift 2
	number=$("$@") || return 0
	printf '%s\t%s\t%s\n' "$what" "$library" "$number" >> "$WORK/bench.tsv"
}

rounds=(1 2 3 4 5 6 7)
[ -z "$COUNTED" ] || rounds=(1 2 3)
for round in "${rounds[@]}"; do
	for library in rai system peer; do
		for what in ids events used bursts binds resolves syncs asyncs descriptors; do
			bench_one $what $library bench_micro $what $library
		done
		# Debian's cmtime doesn't get through on the newest library in this guest: it would only wait.
		[ $library = peer ] || [ -n "$COUNTED" ] || bench_one connections $library bench_cmtime $library
	done
done
ok bench
