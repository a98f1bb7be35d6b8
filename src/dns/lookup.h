/* SPDX-License-Identifier: BSD-2-Clause */
/* What a name under way has in common in both back ends, so that it can be cancelled without asking whose it is. */
#pragma once

#include "dns/dns.h"

struct rcm_dns_lookup {
	void (*cancel)(struct rcm_dns_lookup *lookup);
	rcm_dns_done_fn *done;
	void *arg;
	int family;
	enum rcm_dns_source source;
	uint32_t timeout_ms;
};

static inline void rcm_lookup_init(struct rcm_dns_lookup *lookup, const struct rcm_dns_query *query,
				   rcm_dns_done_fn *done, void *arg, void (*cancel)(struct rcm_dns_lookup *))
{
	*lookup = (struct rcm_dns_lookup){
		.cancel = cancel, .done = done, .arg = arg,
		.family = query->family, .source = query->source, .timeout_ms = query->timeout_ms,
	};
}
