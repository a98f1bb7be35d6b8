# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced by suites: other people's programs, each a function that runs a server and its client, on the system's
# librdmacm and on the one under test, in the same guest.

# Of layout "one"; suites have both.
# shellcheck disable=SC2034
A4=10.2.0.1 A6=fd02::1

# pair SECONDS READY SERVER -- CLIENT: READY is a command that succeeds when the server may be spoken to. The status is
# the first one that is not 0; 124 for a hang.
pair() {
	local seconds=$1 ready=$2 server=() first=0 second=0 pid
	shift 2
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	echo "# server: ${server[*]}"
	timeout -k 1 "$seconds" "${server[@]}" < /dev/null &
	pid=$!
	wait_for 5 $ready || echo "# server not ready"
	echo "# client: $*"
	timeout -k 1 "$seconds" "$@" < /dev/null || first=$?
	[ "${ENDLESS:-}" != yes ] && [ $first = 0 ] || kill "$pid" 2>/dev/null
	wait "$pid" || second=$?
	echo "# client $first, server $second"
	[ $first = 0 ] || return $first
	[ "${ENDLESS:-}" != yes ] || return 0
	return $second
}

cm() { pair "$1" has_listener "${@:2}"; }
tcp() { pair "$1" "has_tcp_listener $2" "${@:3}"; }
endless() { ENDLESS=yes "$@"; }

# --- what fails now and then on any library, and is therefore tried once in one suite, ten times in the other --------

rping_clients() {
	cat > /tmp/clients <<-'END'
	for client in 1 2 3 4; do rping -c -a $1 -C 5 -V & done
	status=0
	for job in $(jobs -p); do wait $job || status=1; done
	exit $status
	END
	endless cm 20 rping -s -P -a $A4 -V -- bash /tmp/clients $A4
}
ucx_rdmacm() {
	export UCX_SOCKADDR_TLS_PRIORITY=rdmacm UCX_WARN_UNUSED_ENV_VARS=n
	"$@"
}
ucx_io_demo() {
	export UCX_NET_DEVICES=rxe0:1 UCX_TLS=rc_verbs,ud_verbs,self
	local said status=0
	said=$(ucx_rdmacm endless cm 30 io_demo -p 1337 -- io_demo -p 1337 -i 20 $A4 2>&1) || status=$?
	printf '%s\n' "$said"
	# UCX's own assertion about its device, as it ends, on either library.
	if [ $status = 134 ] && grep -F 'wait_ctx->cb_id' <<< "$said" > /dev/null; then
		grep -F 'disconnection completed' <<< "$said" > /dev/null && status=0
	fi
	return $status
}

# --- one after the other -------------------------------------------------------------------------------------------

# both_run SUITE LIBRARY PROGRAM: prints pass, fail or hang; a line goes to SUITE.tsv.
both_run() {
	local suite=$1 library=$2 program=$3 status=0 began=${EPOCHREALTIME/./} result path=
	[ "$library" = system ] || path=$LIBRARY
	mkdir -p "$OUT/$suite"
	(export LD_LIBRARY_PATH=$path; $program) > "$OUT/$suite/$program.$library.log" 2>&1 || status=$?
	case $status in
	0) result=pass ;;
	124 | 137 | 143) result=hang ;;
	*) result=fail ;;
	esac
	[ $result = pass ] || cp "$OUT/$suite/$program.$library.log" "$OUT/$suite/$program.$library.$result.log"
	printf '%s\t%s\t%s\t%d\n' "$program" "$library" $result $(((${EPOCHREALTIME/./} - began) / 1000)) >> "$WORK/$suite.tsv"
	echo $result
}

# both SUITE PROGRAM [TIMES]: a program passes when ours gives the result that the system's library gives, or a better one.
# One that fails now and then runs TIMES on each, in turns; so does one that failed on ours alone. Of ten, three fewer are
# what chance does. What fails on both is the same on both, which is what is held here; the table has it.
both() {
	local suite=$1 program=$2 times=${3:-1} theirs ours round
	local -A passed=([system]=0 [rai]=0)
	if [ -z "$LIBRARY" ]; then
		theirs=$(both_run "$suite" system "$program")
		[ "$theirs" = pass ] && ok "$suite/$program" || not_ok "$suite/$program" "$theirs"
		return
	fi
	for ((round = 1; round <= times; round++)); do
		theirs=$(both_run "$suite" system "$program")
		ours=$(both_run "$suite" rai "$program")
		[ "$theirs" != pass ] || passed[system]=$((passed[system] + 1))
		[ "$ours" != pass ] || passed[rai]=$((passed[rai] + 1))
		[ "$ours" = pass ] || [ "$theirs" != pass ] || [ "$times" -ge 10 ] || times=10
	done
	if [ ${passed[rai]} -ge $((passed[system] - (times > 1 ? 3 : 0))) ]; then
		ok "$suite/$program"
	else
		not_ok "$suite/$program" "of $times system's library: ${passed[system]}, ours: ${passed[rai]}; the last $theirs, $ours"
	fi
}
