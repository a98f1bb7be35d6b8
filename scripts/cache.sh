# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced: where what is fetched is kept: where RAI_LAB_CACHE says; else in the project's folder, or, by an installed lab, in
# the user's cache.

: "${top:?}"
if [ -n "${RAI_LAB_CACHE-}" ]; then
	cache=$RAI_LAB_CACHE
elif [ -e "$top/meson.build" ]; then
	cache=$top/.cache
else
	cache=${XDG_CACHE_HOME:-${HOME:?is not set: RAI_LAB_CACHE says where to keep what is fetched}/.cache}/rai
fi
