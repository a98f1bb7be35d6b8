/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scripted SA client: each query must be one that the script expects, and is answered as the script says. What was
 * not expected and what was expected in vain fail rcm_fake_sa_verify(). It runs on the engine's thread; these calls are
 * for the test's.
 */
#pragma once

#include "sa/sa.h"

#define RCM_FAKE_SA_NEVER UINT32_MAX
#define RCM_FAKE_SA_AT_DEADLINE (UINT32_MAX - 1)	/* of services */

/* GIDs are fe80::<number>. */
struct rcm_fake_sa_step {
	/* What is expected. */
	bool path;			/* a path query; else one for services */
	uint8_t port;			/* through this port */
	uint8_t dgid;			/* path: to this port */
	bool to_all;			/* path: to all there are */
	uint16_t pkey;			/* path; services, 0: any */
	const char *name;		/* services: by this name; NULL: by id */
	uint64_t id;			/* services by id; path: of that service, 0: of any */
	uint8_t traffic_class;		/* path */
	bool listing;			/* services: as many as can be listed, */
	uint8_t gid;			/* of this GID; 0: of any */
	bool remove, loose;		/* of the record of that GID, id and P_Key, told that its P_Key counts or not */

	/* What is done. */
	int start;			/* not 0: what the call returns */
	uint32_t ms;			/* after so many ms, or one of the two above */
	int status;
	uint16_t mad_status;
	bool late, too_large;
	const char *text;
	unsigned count, total;
	struct rcm_sa_service_record services[4];	/* with gid, pkey, id and name */
	const struct rcm_sa_service_record *many;	/* instead of these; NULL: none */
	uint16_t path_pkey;		/* path: what it says */
	const uint8_t (*paths)[64];	/* path to all: count of them */
	uint8_t slid;			/* path: found in the 43rd byte of the PathRecord; 0: none is answered */
};

extern const struct rcm_sa_ops rcm_fake_sa;

/* Expect these, in any order; steps stay the caller's. */
void rcm_fake_sa_script(const struct rcm_fake_sa_step *steps, unsigned count);

/* Whether all of the script was asked, and nothing else, and nothing is under way; waits a moment for the last. */
bool rcm_fake_sa_verify(void);

/* Waits until so many queries were asked since the script was set. */
void rcm_fake_sa_wait_asked(unsigned count);

/* How many were. */
unsigned rcm_fake_sa_asked(void);

unsigned rcm_fake_sa_cancelled(void);

/* Deadline of the last query for services. */
uint64_t rcm_fake_sa_deadline(void);

struct rcm_gid rcm_fake_sa_gid(uint8_t number);

/* A port list of these. */
void rcm_fake_sa_set_ports(const struct rcm_sa_port *ports, unsigned count);
int rcm_fake_sa_ports(struct rcm_sa_port *ports, unsigned max);

/* How often that was called. */
unsigned rcm_fake_sa_looks(void);

/* How often the client was told to look at ports that its questions wait at. */
unsigned rcm_fake_sa_client_looks(void);
