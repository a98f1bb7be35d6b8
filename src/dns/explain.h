/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a name was not found, in words. Pure. */
#pragma once

#include "dns/eai.h"
#include "dns/resolv.h"

struct rcm_explain {
	bool nobody;				/* no source of names is configured */
	const struct rcm_resolv *resolv;	/* whose servers were asked; NULL: the hosts file alone was */
	bool srv;				/* of its SRV records, not of its addresses */
	bool known;				/* the verdict is; else nobody has that name */
	enum rcm_dns_verdict verdict;
	const union rcm_dns_address *server;	/* which of resolv's told it; NULL: none did, all are named */
};

/* "name server 192.0.2.1 refused to answer (REFUSED)" */
void rcm_explain(const struct rcm_explain *explain, char *text, size_t size);
