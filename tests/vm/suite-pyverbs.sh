# SPDX-License-Identifier: BSD-2-Clause
# rdma-core's Python package, pyverbs, unchanged, and its own tests: ids, connections and multicast.
layout_one
pyverbs=$TOP/.cache/vm/pyverbs
LD_LIBRARY_PATH=${LIBRARY:+$LIBRARY:}$pyverbs tap pyverbs 300 /usr/bin/python3 "$TESTS/pyverbs.py" "$pyverbs" "$LIBRARY" rxe0 10.2.0.1
