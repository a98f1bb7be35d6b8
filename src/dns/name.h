/* SPDX-License-Identifier: BSD-2-Clause */
/* One name's course through hosts file and name servers. */
#pragma once

#include <sys/queue.h>

#include "dns/families.h"
#include "dns/hosts.h"
#include "dns/lookup.h"
#include "dns/pick.h"
#include "dns/search.h"
#include "dns/srcaddr.h"

enum rcm_name_state {
	RCM_NAME_FRESH,			/* not looked at yet */
	RCM_NAME_WAITING,		/* for a place at a name server */
	RCM_NAME_ASKED,
	RCM_NAME_STATES
};

struct rcm_name {
	struct rcm_dns_lookup base;
	TAILQ_ENTRY(rcm_name) entry;	/* of all of its state */
	struct rcm_sources *sources;
	struct rcm_resolv *resolv;
	struct rcm_families *families;	/* while RCM_NAME_ASKED */
	struct rcm_search search;
	uint32_t no_ttl;		/* the least that a "no" may be kept; UINT32_MAX: nobody said one */
	uint8_t steps[RCM_PICK_STEPS];	/* enum rcm_pick_step; it goes by those that it began with: in others its place
					 * among them would mean something else */
	uint8_t prefix;			/* characters before what domains are tried behind: "_nfs._tcp." */
	uint8_t step : 2;		/* where it is among its steps */
	uint8_t state : 2;
	bool srv : 1, full : 1;		/* as in its query */
};

TAILQ_HEAD(rcm_name_list, rcm_name);

/* What all names go by, and how far each is. */
struct rcm_sources {
	const struct rcm_families_ops *families;
	struct rcm_servers servers;
	struct rcm_srcaddr *srcaddr;
	struct rcm_resolv *resolv;
	struct rcm_hosts *hosts;
	enum rcm_pick_step steps[RCM_PICK_STEPS];	/* of names that begin */
	struct rcm_name_list lists[RCM_NAME_STATES];

	/* A name may go on, in the turn's timers. */
	void (*wake)(struct rcm_sources *sources);
};

/* A fresh one: 0 or -errno. */
int rcm_name_new(struct rcm_sources *sources, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		 struct rcm_name **ret_name);

/* It is not told anything any more. */
void rcm_name_free(struct rcm_name *name);

/* The one way to another state. One that has been asked about goes on before those that have not. */
void rcm_name_move(struct rcm_name *name, enum rcm_name_state state);

/* Takes it as far as it goes: 0: it is asked about, or over and freed; -EAGAIN: to a name server without room for it,
 * or that may_ask is not set for. */
int rcm_name_advance(struct rcm_name *name, bool may_ask);

/* Whether a server that it goes by isn't in resolv; and as if nobody had been asked about it yet. */
bool rcm_name_is_at_lost_server(const struct rcm_name *name, const struct rcm_resolv *resolv);
void rcm_name_begin_again(struct rcm_name *name);
