#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# prototypes.sh INCLUDE: each function of the system's headers has the same prototype in ours, word for word as GCC writes
# it down.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <rdma/%s.h>\n' rdma_cma rdma_verbs > "$work/unit.c"

prototypes() {
	gcc "$@" -fsyntax-only -aux-info "$work/aux" "$work/unit.c"
	sed -nE 's,^/\* [^ ]*/rdma/rdma_(cma|verbs)\.h:.* \*/ (extern|static) (.*);.*,\3,p' "$work/aux" | sort
}

prototypes > "$work/system"
prototypes -I "$1" > "$work/ours"
missing=$(comm -23 "$work/system" "$work/ours")
[ -z "$missing" ] || { echo "not in our headers:"; echo "$missing"; exit 1; }
echo "$(wc -l < "$work/system") prototypes"
