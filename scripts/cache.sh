# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced: where what is fetched is kept: in the project's folder, or, by an installed lab, in the user's cache.

: "${top:?}"
if [ -e "$top/meson.build" ]; then
	cache=$top/.cache
else
	cache=${RAI_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/rai}
fi
