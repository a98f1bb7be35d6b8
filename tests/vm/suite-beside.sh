# SPDX-License-Identifier: BSD-2-Clause
# Every public call in every state of an id, and random sequences of calls at both ends of a connection, on the library
# under test and on those that it replaces: the system's, and the newest that Debian has. What they differ in is explained
# in beside/known, or fails here.
#
# BESIDE is how many of the cases, or "all"; BESIDE_SEQUENCES how many sequences of BESIDE_STEPS steps; BESIDE_SEEDS says
# which, and makes their random arguments: the first is that of the cases, too. TESTS_ONLY names cases ("removed*/*") to be
# run instead. Where two libraries differ the case is tried again, alone and with more patience, up to twice: what
# comes late, or in another order, under load is no difference.
BESIDE_PROGRAMS=${PROGRAMS%/*}
BESIDE_OUT=$OUT/beside
BESIDE_KNOWN=$TESTS/beside/known
read -r -a BESIDE_SEEDS <<< "${BESIDE_SEEDS:-1}"
declare -A BESIDE_WHAT=([cases]="-s ${BESIDE_SEEDS[0]} -c ${BESIDE:-1500}")
for seed in "${BESIDE_SEEDS[@]}"; do
	BESIDE_WHAT[random-$seed]="-s $seed -r ${BESIDE_SEQUENCES:-40} -S ${BESIDE_STEPS:-10}"
done

# beside_run LIBRARY WHAT OPTION...
beside_run() {
	local library=$1 program=vm_system_beside before=() devices
	case $library in
	rai) program=vm_beside before=(env "LD_LIBRARY_PATH=$LIBRARY") ;;
	peer) before=("$TOP/.cache/vm/peer/run") ;;
	esac
	for devices in '' -d; do
		[ "$2$devices" = "$2" ] || [ "$2" = cases ] || continue
		# shellcheck disable=SC2086
		"${before[@]}" "$BESIDE_PROGRAMS/$program" ${BESIDE_WHAT[$2]} $devices "${@:3}" >> "$BESIDE_OUT/$library.$2"
	done
}

# beside_compare THEIRS OURS WHAT OPTION...
beside_compare() {
	python3 "$TESTS/beside/compare" "${@:4}" "$KERNEL/$1" "$BESIDE_KNOWN" "$BESIDE_OUT/$1.$3" "$BESIDE_OUT/$2.$3"
}

# beside_against THEIRS OURS WHAT
beside_against() {
	local theirs=$1 ours=$2 what=$3 again=$BESIDE_OUT/again whole=() line
	[ "${BESIDE:-}.$what.$TESTS_ONLY" != all.cases. ] || whole=(-a)
	[ -e "$BESIDE_OUT/$ours.$what" ] || beside_run "$ours" "$what" -j 16
	beside_run "$theirs" "$what" -j 16
	for _ in 1 2; do
		beside_compare "$theirs" "$ours" "$what" -c "$again" > /dev/null || true
		[ -s "$again" ] || break
		beside_run "$theirs" "$what" -n 1 -j 8 -q 400 -f "$again"
		beside_run "$ours" "$what" -n 1 -j 8 -q 400 -f "$again"
	done
	if beside_compare "$theirs" "$ours" "$what" "${whole[@]}" > "$BESIDE_OUT/$theirs.$what.differences"; then
		ok "beside/$theirs-$what"
		return
	fi
	while read -r line; do
		not_ok "beside/$theirs-$what/${line%% *}" "${line#* }"
	done < "$BESIDE_OUT/$theirs.$what.differences"
}

# beside_all THEIRS OURS
beside_all() {
	local what
	for what in cases "${BESIDE_SEEDS[@]/#/random-}"; do beside_against "$1" "$2" "$what"; done
}

layout_one
mkdir -p "$BESIDE_OUT"
if [ -n "$TESTS_ONLY" ]; then
	set -f
	# shellcheck disable=SC2086
	printf '%s\n' $TESTS_ONLY > "$BESIDE_OUT/only"
	set +f
	BESIDE_WHAT[cases]+=" -f $BESIDE_OUT/only"
	BESIDE_SEEDS=()
fi
if [ -z "$LIBRARY" ]; then
	# The system's library against itself: whether the judge is fair.
	BESIDE_KNOWN=/dev/null
	beside_all system again
else
	beside_all system rai
	if [ -e "$TOP/.cache/vm/peer/version" ]; then
		cp "$TOP"/.cache/vm/peer/usr/lib/x86_64-linux-gnu/libibverbs/* /usr/lib/x86_64-linux-gnu/libibverbs/
		beside_all peer rai
	else
		skip beside/peer "the newest library could not be had"
	fi
fi
