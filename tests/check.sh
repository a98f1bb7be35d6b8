# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: tests that are functions of a script.

passed=0 failed=0 skipped=0

# check NAME: one test, which is the function of that name, in a shell of its own that ends at the first command that fails.
# What it printed is shown where it failed; with 77 it is skipped, and its last line says why.
check() {
	local - rc said
	# Not in TMPDIR, which a test may look for what was left in.
	said=$(mktemp -p /tmp)
	set +e
	(set -e; "$1") > "$said" 2>&1
	rc=$?
	case $rc in
	0) echo "ok $1"; passed=$((passed + 1)) ;;
	77) echo "skipped $1: $(tail -n 1 "$said")"; skipped=$((skipped + 1)) ;;
	*) echo "not ok $1"; tail -n 40 "$said" | sed 's/^/    /'; failed=$((failed + 1)) ;;
	esac
	rm -f "$said"
}

# check_all: each function whose name begins with test_.
check_all() {
	local name
	for name in $(compgen -A function test_); do check "$name"; done
}

# until_true SECONDS COMMAND...: waits until the command succeeds.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt "$end" ] || return 1
		sleep 0.05
	done
}

# checked: the last line, and the status.
checked() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
