/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that are asked for instead of a short one. Pure. */
#pragma once

#include "dns/resolv.h"

/* What an unsuccessful candidate means for those after it (res_search(3)). */
enum rcm_search_kind { RCM_SEARCH_END, RCM_SEARCH_AS_IS, RCM_SEARCH_DOMAIN };

enum { RCM_SEARCH_NAME_MAX = 2 * 1025 };

/*
 * The index-th name to ask for instead of name, into buf (RCM_SEARCH_NAME_MAX bytes): as it is where it has ndots dots
 * or ends in one, then with each search domain, then as it is unless that was done. RCM_SEARCH_END: there are no more.
 */
enum rcm_search_kind rcm_search_name(const struct rcm_resolv *resolv, const char *name, unsigned index, char *buf);

/* The index of the last candidate, the one to go on with after a server failed at a search domain. */
unsigned rcm_search_last(const struct rcm_resolv *resolv, const char *name);
