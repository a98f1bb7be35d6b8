/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lookup gave: immutable once made, shared by reference. */
#pragma once

#include <stdatomic.h>

#include "addr/build.h"
#include "resolve/question.h"

struct rcm_answer {
	atomic_uint refs;
	int status;			/* 0 or -errno */
	uint64_t arg;			/* results found (maybe more than count), EAI_* code, or MAD status */
	unsigned count;
	int missing;			/* of a name, the address family that stayed silent; 0: none */
	unsigned targets, targets_lost;	/* of SRV records, the hosts that they name, and those without an address */
	unsigned pathless;		/* of services, those of them without a path; where none was wanted 0 */
	const char *text;		/* canonical name, or of a failure the reason; or NULL */
	size_t size;			/* bytes of the whole object */
	struct rcm_result *results;
	struct ibv_path_data *routes;		/* of services: two for each result at most */
	struct rcm_service_rest *services;	/* the same: one for each result */
	unsigned srvs_count;			/* of SRV records: how many; else 0 */
	struct rcm_srv_rest *srvs;
};

/* Ends that the engine itself makes. They take no memory. */
enum rcm_answer_fixed {
	RCM_ANSWER_CANCELLED, RCM_ANSWER_DEADLINE, RCM_ANSWER_NO_MEMORY, RCM_ANSWER_NO_SERVICE,
	RCM_ANSWER_NO_SCOPE, RCM_ANSWER_OTHER_FAMILY, RCM_ANSWER_NO_GID, RCM_ANSWER_NO_PORT, RCM_ANSWER_LOST,
};

/* A new one for count results, of a name, of a service with so many routes in all, or of SRV records, to be filled by
 * its maker; text (or NULL) is copied. 0 or -ENOMEM. */
int rcm_answer_new(unsigned count, const char *text, struct rcm_answer **ret_answer);
int rcm_answer_new_services(unsigned count, unsigned routes, const char *text, struct rcm_answer **ret_answer);
int rcm_answer_new_srvs(unsigned count, unsigned srvs, const char *text, struct rcm_answer **ret_answer);

/* A failure; without memory for it the one that says so. Never NULL. */
struct rcm_answer *rcm_answer_failed(int status, uint64_t arg, const char *text);

struct rcm_answer *rcm_answer_fixed(enum rcm_answer_fixed which);

/* Whether it is one of those, whether it is that one. */
bool rcm_answer_is_fixed(const struct rcm_answer *answer);
bool rcm_answer_is(const struct rcm_answer *answer, enum rcm_answer_fixed which);

/* One more reference. */
struct rcm_answer *rcm_answer_get(struct rcm_answer *answer);
