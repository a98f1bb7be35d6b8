# SPDX-License-Identifier: BSD-2-Clause
# Ids that one thread destroys or moves while another is in a call on them.
layout_one
export LD_LIBRARY_PATH=$LIBRARY
tap life/life 600 "${PROGRAMS}life"
unset LD_LIBRARY_PATH
