/* SPDX-License-Identifier: BSD-2-Clause */
/* The networks whose addresses come first, sortlist of resolv.conf(5), as glibc goes by it. Pure. */
#pragma once

#include "base/limits.h"
#include "dns/dns.h"

struct rcm_sortlist {
	unsigned count;
	struct {
		in_addr_t net, mask;
	} pairs[RCM_SORTLIST_MAX];
};

/* What stands behind the word, which is changed. It is added to what is there. */
void rcm_sortlist_read(struct rcm_sortlist *list, char *text);

/* Puts IPv4 addresses in the order of the list, those of no network last, equal ones as they were. Of a longer answer
 * the first 48 alone, as glibc does. */
void rcm_sortlist_apply(const struct rcm_sortlist *list, union rcm_dns_address *addresses, unsigned count);

bool rcm_sortlist_is_same(const struct rcm_sortlist *a, const struct rcm_sortlist *b);
