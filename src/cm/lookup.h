/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_resolve_addrinfo() to the engine and back, as an event on the id's channel. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdbool.h>

struct rcm_id;
struct rcm_question;

/* What one under way takes at most, beside its request. */
enum { RCM_LOOKUP_BYTES = 208 };

/*
 * Starts a resolution: 0, and one event follows; or -errno of the contract's table, and none does. All is allocated
 * here, so that delivering can't fail. Waits for nothing.
 */
int rcm_lookup_start(struct rcm_id *id, const char *node, const char *service, const struct rdma_addrinfo *hints);

/* The same with what is asked: what of it the id's options say is filled in. A record's removal has RAI_EVENT_SERVICE
 * as its event. */
int rcm_lookup_ask(struct rcm_id *id, struct rcm_question *question);

/* Ends it as ADDRINFO_ERROR with -ECANCELED, unless its outcome was queued already. 0, or -ENOENT: none under way. */
int rcm_lookup_cancel(struct rcm_id *id);

/* Ends it without an event, also one that is queued; drops what was found. Waits for nothing. */
void rcm_lookup_abandon(struct rcm_id *id);

/* Hands over what was found, once: 0, -ENOENT, -ENOMEM (and it stays). */
int rcm_lookup_query(struct rcm_id *id, struct rdma_addrinfo **ret_list);

/*
 * In the child of a fork, a caller at a time, after rcm_engine_leave_parent(); whole: nobody held the id's lock. One
 * that has ended has its event queued; one that rests makes its id one of the channel's resting; one that a thread of
 * the parent's was starting, or waited for, is none any more.
 */
void rcm_lookup_renew(struct rcm_id *id, bool whole);

/* The same, after all ids: those whose ids gave them up, and whose end the parent's engine had not seen, are freed. */
void rcm_lookups_drop(void);

/* Starts again one that rests; one that a thread of the parent's waited for ends. 0; -EAGAIN, -EMFILE, -ENOMEM: it goes
 * on resting. */
int rcm_lookup_again(struct rcm_id *id);
