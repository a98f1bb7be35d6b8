/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by hosts file and name servers: which are asked for instead of a short one, and what is told. */
#pragma once

#include "dns/dns.h"
#include "dns/families.h"
#include "dns/hosts.h"
#include "dns/pick.h"

struct rcm_names;

/* families: how names are asked about, rcm_families_network or a fake. 0 or -errno. */
int rcm_names_open(struct rcm_loop *loop, const struct rcm_families_ops *families, struct rcm_names **ret_names);

/* How addresses rank from now on. */
void rcm_names_rank(struct rcm_names *names, const struct rcm_policy *policy);

/* Takes over the reference and hosts; NULL keeps what it has, but not the first time. Names under way go on, but for
 * those at a server that is gone: they are asked about anew, as is configured now. */
void rcm_names_configure(struct rcm_names *names, const enum rcm_pick_step steps[RCM_PICK_STEPS],
			 struct rcm_resolv *resolv, struct rcm_hosts *hosts);

/* These as in struct rcm_dns_ops, after the first configure. */
int rcm_names_start(struct rcm_names *names, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		    struct rcm_dns_lookup **ret_lookup);
void rcm_names_close(struct rcm_names *names);
void rcm_names_abandon(struct rcm_names *names);
