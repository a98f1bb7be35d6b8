#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# layout.sh OURS SYSTEM: the two programs print the same.
diff <("$2") <("$1") || exit 1
n=$("$1" | wc -l)
[ "$n" -gt 100 ] && echo "$n sizes, offsets and numbers are equal"
