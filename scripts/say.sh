# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: what the scripts say while something takes its time. Progress is for a terminal alone.

# Bash's <(...) and the namespaces need it.
[ -e /proc/self ] || { echo "${0##*/}: /proc isn't mounted here; as root: mount -t proc proc /proc" >&2; exit 1; }

# Where it is said, also from a command whose own words go elsewhere.
exec {screen}>&2

# progress TEXT: the line that says how far it is; without a text it is wiped.
progress() { [ ! -t "$screen" ] || printf '\r\033[K%s' "${1-}" >&"$screen"; }

# seconds N: "1 second", "2 seconds".
seconds() { if [ "$1" = 1 ]; then echo '1 second'; else echo "$1 seconds"; fi; }

# watched TEXT COMMAND...: runs it; on a terminal the line counts its seconds.
watched() {
	local text=$1 begin=$SECONDS ticker='' rc=0
	shift
	if [ -t "$screen" ]; then
		while sleep 1; do progress "$text, $((SECONDS - begin)) s"; done &
		ticker=$!
	fi
	"$@" || rc=$?
	[ -z "$ticker" ] || { kill "$ticker"; wait "$ticker"; } 2>/dev/null || true
	progress
	return "$rc"
}

# with_tests FOLDER [OPTION...]: a build directory with the tests in it; the options are for one that is new.
with_tests() {
	local folder=$1 log rc=0
	shift
	log=$(mktemp)
	if [ ! -e "$folder/build.ninja" ]; then
		watched "setting up $folder" meson setup "$folder" -Dtests=true "$@" > "$log" 2>&1 || rc=$?
	elif ! meson introspect "$folder" --targets | grep test_heap > /dev/null; then
		watched "setting up the tests in $folder" meson setup --reconfigure "$folder" -Dtests=true > "$log" 2>&1 || rc=$?
	fi
	[ "$rc" = 0 ] || tail -n 20 "$log" >&2
	rm -f "$log"
	return "$rc"
}

# steps FOLDER [TARGET...]: how many steps a build has to do; nothing where there are none, or that can't be told.
steps() { { ninja -C "$@" -n 2>/dev/null || true; } | sed -nE 's|^\[[0-9]+/([0-9]+)\].*|\1|p' | tail -n 1; }

# compiled FOLDER [TARGET...]: builds, and says how far it is; all that the compiler said where it fails.
compiled() {
	local - folder=$1 count log rc=0 line
	set -o pipefail
	count=$(steps "$@")
	[ "${count:-0}" -lt 10 ] || echo "building in $folder: $count steps" >&2
	log=$(mktemp)
	NINJA_STATUS='[%f/%t] ' ninja -C "$@" 2>&1 | while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in '['*/*']'*) progress "$folder: ${line%%]*}]" ;; esac
	done > "$log" || rc=$?
	progress
	[ "$rc" = 0 ] || grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: (Entering|Leaving)' "$log" >&2
	rm -f "$log"
	return "$rc"
}
