#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# abidiff.sh LIBRARY SUPPRESSIONS: the interface of LIBRARY against the system's librdmacm.so.1: no difference but those
# that the suppressions list and explain. Layouts and prototypes, for which the system's library has no debug information,
# are compared by layout.c and prototypes.sh.
set -euo pipefail

library=$1 suppressions=$2
system=$(echo /usr/lib/*/librdmacm.so.1)
command -v abidiff > /dev/null && [ -e "$system" ] || { echo "no abidiff, or no librdmacm of the system's"; exit 77; }
abidiff --suppressions "$suppressions" "$system" "$library"
