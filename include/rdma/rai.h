/* SPDX-License-Identifier: BSD-2-Clause */
/* What this librdmacm has beyond the common one: options, cancelling, explanations, service records, counters. */
#ifndef RAI_RDMA_RAI_H
#define RAI_RDMA_RAI_H

#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header, as text and as a number that grows: a byte each for major, minor and patch. */
#define RAI_VERSION "0.2.0"
#define RAI_VERSION_NUMBER 0x000200

/*
 * Version of the library that the program runs with, in the form of RAI_VERSION; strverscmp(3) compares two of them.
 * Never NULL; never freed. Any thread.
 */
const char *rai_version(void);

/* Level of rdma_set_option(), "RAI". */
#define RDMA_OPTION_RAI 0x524149

/* Options of that level; each is a uint32_t and holds for later resolutions of the id. */
enum {
	RAI_OPTION_DEADLINE_MS = 1,	/* for the whole resolution, from the call on; 0: none */
	RAI_OPTION_FRESH = 2,		/* 1: kept answers are not used */
	RAI_OPTION_SOURCE = 3		/* enum rai_source */
};

/* Where names come from. */
enum rai_source {
	RAI_SOURCE_CONFIGURED = 0,	/* as the host's nsswitch.conf says */
	RAI_SOURCE_DNS = 1,		/* the name servers only */
	RAI_SOURCE_HOSTS = 2		/* the hosts file only */
};

/*
 * Cancels the resolution under way on id: its event comes as ADDRINFO_ERROR with -ECANCELED, unless its outcome was
 * queued already. errno: EINVAL (NULL), ENOENT (none under way). Any thread.
 */
int rai_cancel(struct rdma_cm_id *id);

/*
 * Writes which step of the event's call failed, and why, in words, to buf, cut to len bytes with its NUL. For an event
 * without more to tell: the text of its status. Returns the length of the whole text, or -1 with errno EINVAL.
 * The event must not be acked yet.
 */
int rai_event_text(const struct rdma_cm_event *event, char *buf, size_t len);

/* A service record as the SA has it (IBTA 15.2.5.14, ServiceRecord). */
struct rai_service_record {
	uint64_t id;			/* service id, host order */
	uint8_t gid[16];		/* of the port that offers the service, network order */
	uint16_t pkey;			/* its partition, host order; 0: none was registered */
	uint16_t reserved16;
	uint32_t lease_s;		/* seconds that the record was registered for; UINT32_MAX: for ever */
	char name[72];			/* NUL-terminated, 64 bytes at most before that; empty: none */
	uint8_t data[64];		/* ServiceData8, 16, 32 and 64 as on the wire */
	uint64_t reserved[4];		/* 0 */
};

/*
 * The whole service record behind a result of RAI_SA. ai: an entry of a list that rdma_query_addrinfo() or
 * rdma_getaddrinfo() gave, not freed yet. errno: EINVAL (NULL), ENOENT (it has none: it isn't of RAI_SA). Any thread.
 */
int rai_addrinfo_service(const struct rdma_addrinfo *ai, struct rai_service_record *record);

/* Counters since the process started; each only grows, but for the last three, which are levels. */
struct rai_stats {
	uint64_t started;		/* resolutions accepted, rdma_getaddrinfo() among them */
	uint64_t resolved;		/* ended with results */
	uint64_t failed;		/* ended with an error */
	uint64_t cancelled;		/* ended by rai_cancel() or rdma_destroy_id() */
	uint64_t kept_hits;		/* answered from kept answers */
	uint64_t shared;		/* joined an equal lookup in flight */
	uint64_t lookups;		/* lookups started at a back end */
	uint64_t timeouts;		/* deadlines that ran out */
	uint64_t sa_queries;		/* MADs sent to an SA, repeats among them */
	uint64_t sa_retries;		/* of those, repeats */
	uint64_t outstanding;		/* level: resolutions under way */
	uint64_t in_flight;		/* level: lookups under way */
	uint64_t kept;			/* level: answers kept */
};

/* Fills the first size bytes of *stats (pass sizeof(struct rai_stats)); later versions add fields at the end.
 * errno: EINVAL. Any thread. */
int rai_get_stats(struct rai_stats *stats, size_t size);

#ifdef __cplusplus
}
#endif
#endif
