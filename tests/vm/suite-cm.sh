# SPDX-License-Identifier: BSD-2-Clause
# Our own programs on one device: connections and what may go wrong with them.
layout_one
export LD_LIBRARY_PATH=$LIBRARY
for program in conn ud migrate; do
	tap cm/$program 200 "$PROGRAMS$program"
done
unset LD_LIBRARY_PATH
