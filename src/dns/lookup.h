/* SPDX-License-Identifier: BSD-2-Clause */
/* What a name under way has in common in both back ends, so that it can be cancelled without asking whose it is. */
#pragma once

#include "dns/dns.h"

struct rcm_lookup_ops {
	void (*cancel)(struct rcm_dns_lookup *lookup);
	bool (*partial)(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg);
};

struct rcm_dns_lookup {
	const struct rcm_lookup_ops *ops;
	rcm_dns_done_fn *done;
	void *arg;
	const char *name;		/* whoever asked holds it */
	int family;
	enum rcm_dns_source source;
};

static inline void rcm_lookup_init(struct rcm_dns_lookup *lookup, const struct rcm_lookup_ops *ops,
				   const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg)
{
	*lookup = (struct rcm_dns_lookup){
		.ops = ops, .done = done, .arg = arg, .name = query->name,
		.family = query->family, .source = query->source,
	};
}
