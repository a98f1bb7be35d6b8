# SPDX-License-Identifier: BSD-2-Clause
# Every public call in every state of an id, and random sequences of calls at both ends of a connection, on the library
# under test and on those that it replaces: the system's, and the newest that Debian has. What they differ in is explained
# in beside/known, or fails here.
#
# BESIDE is how many of the cases, or "all"; BESIDE_SEQUENCES how many sequences; BESIDE_SEED says which, and makes their
# random arguments. Where two libraries differ the case is tried again, alone and with more patience, up to twice: what
# comes late, or in another order, under load is no difference.
BESIDE_PROGRAMS=${PROGRAMS%/*}
BESIDE_OUT=$OUT/beside
BESIDE_KNOWN=$TESTS/beside/known
declare -A BESIDE_WHAT=([cases]="-c ${BESIDE:-1500}" [random]="-r ${BESIDE_SEQUENCES:-40}")

# beside_run LIBRARY WHAT OPTION...
beside_run() {
	local library=$1 program=vm_system_beside before=()
	case $library in
	rai) program=vm_beside before=(env "LD_LIBRARY_PATH=$LIBRARY") ;;
	peer) before=("$TOP/.cache/vm/peer/run") ;;
	esac
	# shellcheck disable=SC2086
	"${before[@]}" "$BESIDE_PROGRAMS/$program" -s "${BESIDE_SEED:-1}" ${BESIDE_WHAT[$2]} "${@:3}" >> "$BESIDE_OUT/$library.$2"
}

# beside_compare THEIRS OURS WHAT OPTION...
beside_compare() {
	python3 "$TESTS/beside/compare" "${@:4}" "$KERNEL/$1" "$BESIDE_KNOWN" "$BESIDE_OUT/$1.$3" "$BESIDE_OUT/$2.$3"
}

# beside_against THEIRS OURS WHAT
beside_against() {
	local theirs=$1 ours=$2 what=$3 again=$BESIDE_OUT/again whole=() line
	[ "${BESIDE:-}.$what" != all.cases ] || whole=(-a)
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

layout_one
mkdir -p "$BESIDE_OUT"
if [ -z "$LIBRARY" ]; then
	# The system's library against itself: whether the judge is fair.
	BESIDE_KNOWN=/dev/null
	beside_against system again cases
	beside_against system again random
else
	beside_against system rai cases
	beside_against system rai random
	if [ -e "$TOP/.cache/vm/peer/version" ]; then
		cp "$TOP"/.cache/vm/peer/usr/lib/x86_64-linux-gnu/libibverbs/* /usr/lib/x86_64-linux-gnu/libibverbs/
		beside_against peer rai cases
		beside_against peer rai random
	else
		skip beside/peer "the newest library could not be had"
	fi
fi
