#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# headers.sh INCLUDE: each public header compiles alone, twice over, as C11 and as C++, without a warning.
set -euo pipefail
include=$1
flags=(-fsyntax-only -Wall -Wextra -Werror -I "$include")
command -v g++ > /dev/null || { echo "no C++ compiler"; exit 77; }
while read -r header; do
	unit=$(printf '#include <%s>\n' "$header" "$header")
	cc -std=c11 -Wstrict-prototypes "${flags[@]}" -x c - <<< "$unit" || { echo "$header: as C"; exit 1; }
	g++ -std=c++11 "${flags[@]}" -x c++ - <<< "$unit" || { echo "$header: as C++"; exit 1; }
	echo "$header"
done < <(cd "$include" && find . -name '*.h' -printf '%P\n' | sort)
