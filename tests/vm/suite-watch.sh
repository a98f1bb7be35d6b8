# SPDX-License-Identifier: BSD-2-Clause
# Every kind of poller on a channel's descriptor, on the kernel's events and the library's own.
layout_one
LD_LIBRARY_PATH=$LIBRARY tap watch 600 "${PROGRAMS}watch"
