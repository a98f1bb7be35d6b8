#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# layout.sh OURS SYSTEM: the two programs print the same.
read -ra through <<< "${MESON_EXE_WRAPPER:-}"		# another processor's
diff <("${through[@]}" "$2") <("${through[@]}" "$1") || exit 1
n=$("${through[@]}" "$1" | wc -l)
[ "$n" -gt 100 ] && echo "$n sizes, offsets and numbers are equal"
