# SPDX-License-Identifier: BSD-2-Clause
# Every public call in every state of an id, on the library under test and on those that it replaces: the system's, and
# the newest that Debian has. What they differ in is explained in beside/known, or fails here.
#
# BESIDE is how many of the cases, or "all"; BESIDE_SEED says which, and makes their random arguments. Where two
# libraries differ the case is tried again, alone and with more patience, up to twice: what comes late, or in another
# order, under load is no difference.
BESIDE_PROGRAMS=${PROGRAMS%/*}
BESIDE_OUT=$OUT/beside
BESIDE_OPTIONS=(-s "${BESIDE_SEED:-1}" -c "${BESIDE:-1500}")
BESIDE_KNOWN=$TESTS/beside/known

# beside_run LIBRARY OPTION...
beside_run() {
	local library=$1
	shift
	case $library in
	rai) LD_LIBRARY_PATH=$LIBRARY "$BESIDE_PROGRAMS/vm_beside" "$@" ;;
	system | again) "$BESIDE_PROGRAMS/vm_system_beside" "$@" ;;
	peer) "$TOP/.cache/vm/peer/run" "$BESIDE_PROGRAMS/vm_system_beside" "$@" ;;
	esac
}

# beside_compare THEIRS OURS OPTION...
beside_compare() {
	python3 "$TESTS/beside/compare" "${@:3}" "$KERNEL/$1" "$BESIDE_KNOWN" "$BESIDE_OUT/$1" "$BESIDE_OUT/$2"
}

# beside_against THEIRS OURS
beside_against() {
	local theirs=$1 ours=$2 again=$BESIDE_OUT/$1.again whole=() line
	[ "${BESIDE:-}" != all ] || whole=(-a)
	beside_run "$theirs" "${BESIDE_OPTIONS[@]}" -j 16 > "$BESIDE_OUT/$theirs"
	for _ in 1 2; do
		beside_compare "$theirs" "$ours" -c "$again" > /dev/null || true
		[ -s "$again" ] || break
		beside_run "$theirs" "${BESIDE_OPTIONS[@]}" -n 1 -j 8 -q 400 -f "$again" >> "$BESIDE_OUT/$theirs"
		beside_run "$ours" "${BESIDE_OPTIONS[@]}" -n 1 -j 8 -q 400 -f "$again" >> "$BESIDE_OUT/$ours"
	done
	if beside_compare "$theirs" "$ours" "${whole[@]}" > "$BESIDE_OUT/$theirs.differences"; then
		ok "beside/$theirs"
		return
	fi
	while read -r line; do
		not_ok "beside/$theirs/${line%% *}" "${line#* }"
	done < "$BESIDE_OUT/$theirs.differences"
}

layout_one
mkdir -p "$BESIDE_OUT"
if [ -z "$LIBRARY" ]; then
	# The system's library against itself: whether the judge is fair.
	BESIDE_KNOWN=/dev/null
	beside_run again "${BESIDE_OPTIONS[@]}" -j 16 > "$BESIDE_OUT/again"
	beside_against system again
else
	beside_run rai "${BESIDE_OPTIONS[@]}" -j 16 > "$BESIDE_OUT/rai"
	beside_against system rai
	if [ -e "$TOP/.cache/vm/peer/version" ]; then
		cp "$TOP"/.cache/vm/peer/usr/lib/x86_64-linux-gnu/libibverbs/* /usr/lib/x86_64-linux-gnu/libibverbs/
		beside_against peer rai
	else
		skip beside/peer "the newest library could not be had"
	fi
fi
