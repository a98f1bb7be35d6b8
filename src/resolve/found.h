/* SPDX-License-Identifier: BSD-2-Clause */
/* The service records that were found, as they came, and the list that is made of them. */
#pragma once

#include <infiniband/verbs.h>

#include "addr/build.h"
#include "resolve/accept.h"
#include "resolve/answer.h"
#include "resolve/rank.h"
#include "sa/sa.h"

/* One that was found, and its path. */
struct rcm_found {
	const struct rcm_gid *via;		/* the port that it was found through */
	unsigned port, number;			/* which port of the lookup's that is, and as which of all it came */
	struct rcm_gid gid;
	uint16_t pkey;
	uint64_t id;
	struct rcm_service_rest rest;
	bool had;				/* a path */
	struct ibv_path_data data;
	struct rcm_rank rank;			/* when the list is made */
	const struct rcm_found *also;		/* the same, and a path to it, through another port */
	bool asked;				/* for its path, alone or in a table that is awaited */
	struct rcm_paths *paths;		/* who asks for its path */
	struct rcm_sa_query *query;		/* for it; NULL: not under way */
};

/* The records of an answer. */
struct rcm_found_batch {
	struct rcm_found_batch *next;
	unsigned count;
	struct rcm_found records[];
};

struct rcm_found_list {
	struct rcm_found_batch *first, **last;	/* as they came */
	unsigned count;				/* records in them */
	const struct rcm_listing *listing;	/* which are wanted; NULL: those to connect to */
};

/* listing (or NULL) has to outlive it. */
void rcm_found_init(struct rcm_found_list *list, const struct rcm_listing *listing);
void rcm_found_done(struct rcm_found_list *list);

/* Those of an answer, of which some may not be accepted, that came through a port of the lookup's; via has to outlive
 * the list. NULL without memory. */
struct rcm_found_batch *rcm_found_add(struct rcm_found_list *list, unsigned port, const struct rcm_gid *via,
				      const struct rcm_sa_answer *answer, const struct rcm_accept *accept);

/* A new answer of all that came, each once, the best first, or, of a listing, by GID, id and P_Key; name NULL: none.
 * total is how many records the SA had; routed: paths were wanted. The lookup's first port is what a client is told
 * from another by. */
struct rcm_answer *rcm_found_answer(const struct rcm_found_list *list, const struct rcm_gid *first_port,
				    const char *name, uint64_t total, bool routed);
