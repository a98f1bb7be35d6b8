# SPDX-License-Identifier: BSD-2-Clause
# Our own programs on one device: connections, datagrams, moving ids, endpoints, many ids, threads.
layout_one
export LD_LIBRARY_PATH=$LIBRARY
for program in conn ud migrate ep many threads; do
	tap cm/$program 300 "$PROGRAMS$program"
done
unset LD_LIBRARY_PATH
