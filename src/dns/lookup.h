/* SPDX-License-Identifier: BSD-2-Clause */
/* What a name under way has in common in both back ends, so that it can be cancelled without asking whose it is. */
#pragma once

#include "dns/dns.h"

struct rcm_dns_lookup {
	void (*cancel)(struct rcm_dns_lookup *lookup);
	bool (*partial)(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg);
	rcm_dns_done_fn *done;
	void *arg;
	int family;
	enum rcm_dns_source source;
};

static inline void rcm_lookup_init(struct rcm_dns_lookup *lookup, const struct rcm_dns_query *query,
				   rcm_dns_done_fn *done, void *arg)
{
	*lookup = (struct rcm_dns_lookup){
		.done = done, .arg = arg,
		.family = query->family, .source = query->source,
	};
}
