# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: what is done when a script has ended, in whatever way.

# after PID COMMAND...: runs the command, which may be a function, once that process is gone, killed or not. It is no
# job of the shell's, gets none of the terminal's signals, and holds none of its output open.
after() {
	local pid=$1
	shift
	(
		trap '' INT TERM HUP QUIT
		tail -s 0.2 --pid="$pid" -f /dev/null
		"$@"
	) < /dev/null > /dev/null 2>&1 &
	disown
}
