/* SPDX-License-Identifier: BSD-2-Clause */
/* What this librdmacm has beyond the common one: options, cancelling, explanations, service records, counters. */
#ifndef RAI_RDMA_RAI_H
#define RAI_RDMA_RAI_H

#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header, as text and as a number that grows: a byte each for major, minor and patch. */
#define RAI_VERSION "0.9.0"
#define RAI_VERSION_NUMBER 0x000900

/*
 * Version of the library that the program runs with, in the form of RAI_VERSION; strverscmp(3) compares two of them.
 * Never NULL; never freed. Any thread.
 */
const char *rai_version(void);

/* Level of rdma_set_option(), "RAI". */
#define RDMA_OPTION_RAI 0x524149

/* Options of that level, which hold for later resolutions of the id; each is a uint32_t but for the GIDs. */
enum {
	RAI_OPTION_DEADLINE_MS = 1,	/* for the whole resolution, from the call on; 0: none */
	RAI_OPTION_FRESH = 2,		/* 1: kept answers are not used */
	RAI_OPTION_SOURCE = 3,		/* enum rai_source */
	RAI_OPTION_SERVICE_GIDS = 4,	/* RAI_SA: records of these GIDs alone, 16 bytes each, 256 at most; 0: any */
	RAI_OPTION_SERVICE_FULL = 5	/* RAI_SA: 1: of partitions alone of which the port is a full member */
};

/* Where names come from. */
enum rai_source {
	RAI_SOURCE_CONFIGURED = 0,	/* as the host's nsswitch.conf says */
	RAI_SOURCE_DNS = 1,		/* the name servers only */
	RAI_SOURCE_HOSTS = 2		/* the hosts file only */
};

/*
 * A flag of hints, alone or with RAI_DNS: node is a domain and service what it is to offer, which its SRV records tell
 * (RFC 2782). Asked for is "_service._tcp.node", with hints for datagrams (RDMA_PS_UDP, RDMA_PS_IPOIB, IBV_QPT_UD)
 * "_service._udp.node". A service that begins with "_" gets no other, and one with its protocol, "_nfs._udp", is taken
 * as it is; without a service, node is the whole name. The search list is tried behind node. The hosts file has no SRV
 * records: RAI_SOURCE_HOSTS finds none.
 *
 * One event tells of all: the addresses of all targets, each with the port of its record, the least priority first,
 * those of one priority by chance in proportion to their weights, drawn anew for each resolution. Of one target those
 * that RFC 6724 and RDMA devices prefer go first. Targets are found as any host name, but that no search list applies.
 * One without an address is passed over; where all are, status is that of the one that may be mended soonest.
 * -ENOENT: no such records, or a target "." says that the service is not to be had there. There is no falling back to
 * the addresses of node itself: what port would be meant is for the program to know.
 *
 * A result has ai_flags RAI_SRV, and its target as ai_dst_canonname. Refused at once: EINVAL with RAI_PASSIVE,
 * RAI_NUMERICHOST or AF_IB, without node, with a service that has a dot but no "_", or with one beside a node that
 * begins with "_"; ENOTSUP with RAI_SA; ENAMETOOLONG where the name to ask for has over 253 characters.
 */
#define RAI_SRV 0x40000000

/*
 * Cancels the resolution under way on id, which it is until its event is taken: that comes as ADDRINFO_ERROR with
 * -ECANCELED (of rai_service_remove(): as RAI_EVENT_SERVICE), unless the outcome was queued already. errno: EINVAL
 * (NULL), ENOENT (none under way). Any thread.
 */
int rai_cancel(struct rdma_cm_id *id);

/*
 * Writes which step of the event's call failed, and why, in words, to buf, cut to len bytes with its NUL. For an event
 * without more to tell: the text of its status. Returns the length of the whole text, or -1 with errno EINVAL.
 * The event is the one that was taken, not yet acked, and no copy of it: its words lie behind it.
 */
int rai_event_text(const struct rdma_cm_event *event, char *buf, size_t len);

/*
 * Type of an event of this library's own, on the channel of an id that publishes a service: what became of that. It is
 * no enumerator of enum rdma_cm_event_type, lest compilers ask for it in every switch; a switch that has it is over
 * (int)event->event. status: 0, the SA has the record; else a negative errno, why it hasn't (below); param.arg: the
 * registration; 0: of rai_service_remove().
 */
#define RAI_EVENT_SERVICE 64

/* A service to be published; what isn't given is 0. */
struct rai_service {
	const char *name;		/* 63 bytes at most; NULL: none */
	uint64_t id;			/* service id, host order; 0: the one that the rdma_cm_id is bound to */
	uint16_t pkey;			/* partition, host order; 0: as bound, else the default one */
	uint16_t reserved16;		/* 0 */
	uint32_t lease_s;		/* seconds that the record outlives its publisher, 1 to 86400; 0: 120 */
	uint8_t data[64];		/* ServiceData8, 16, 32 and 64 as on the wire; [15]: preference, see below */
	uint64_t reserved[4];		/* 0 */
};

/*
 * Publishes a service at the SA of the InfiniBand port that id is bound to, and keeps it published: renewed at a third
 * of its lease, set again at once after the SM changed, the port came up or a GID or the P_Keys changed, until
 * rai_service_unregister() or rdma_destroy_id(). An id may have several, in several partitions say. What is given is
 * copied.
 *
 * Returns at once, waiting for nothing. 0: *registration is a number that no other of the process has, and an
 * RAI_EVENT_SERVICE follows, and one whenever the SA comes to have the record or not to have it. Two of a registration
 * wait to be read at most: of more the last replaces the one before. Statuses:
 *	0		registered, or again; rai_event_text() says after what
 *	-EIO		refused: the text has the SA's status
 *	-ENOENT		the SA lost the record, or somebody deleted it; it is set again
 *	-EEXIST		another's record was put in its place, and it is set again; or this process publishes that id
 *			at that port in that partition already, and it waits until that one goes
 *	-EBUSY, -ETIMEDOUT, -ENETDOWN, -ENODEV, -EACCES, -ENOMEM: busy, silent, port down, gone, no more access: once at
 *			first, later only when the lease has run out
 * All of them are tried again, for as long as the registration lasts.
 *
 * data[15] is the publisher's preference, by which rdma_resolve_addrinfo() sorts: 1 is the best, 255 the last, 0 counts
 * as 128. One publisher's records are told from others' by a ServiceKey of chance; OpenSM lets anybody replace or
 * delete them all the same.
 *
 * -1 and errno: EINVAL (a NULL; neither name nor id; a name that is empty or reads as a number, which no resolution
 * finds; a reserved field; a lease too long; id bound to no device, or without a service id where it is to be the
 * service's), ENOTSUP (the port isn't InfiniBand; a synchronous id, which no event of this kind can be told on),
 * ENAMETOOLONG, EACCES (no access to the umad device), ENODEV, ENOMEM, EMFILE, EAGAIN (no thread; or the process
 * publishes 4096 already). Any thread.
 *
 * In the child of a fork the registrations are the parent's alone: nothing of them is renewed, deleted or told there.
 */
int rai_service_register(struct rdma_cm_id *id, const struct rai_service *service, uint64_t *registration);

/*
 * Ends a registration of id: no event of it is taken after this call, and its record is deleted where it is still this
 * one's, soon, in the background, if the SA answers within seconds; else its lease runs out. So does that of a process
 * that ends right after. errno: EINVAL (NULL), ENOENT (id has no such registration). Any thread; waits for nothing.
 */
int rai_service_unregister(struct rdma_cm_id *id, uint64_t registration);

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

/* Which records of an SA: those that agree with all that is given; what isn't given is 0. */
struct rai_service_filter {
	const char *name;		/* all of it, 64 bytes at most; NULL: any; empty: none */
	uint64_t id;			/* service id, host order */
	uint8_t gid[16];		/* of the port that offers the service, network order */
	uint16_t pkey;			/* as it was registered, host order, all 16 bits */
	uint16_t reserved16[3];		/* 0 */
	uint64_t reserved[4];		/* 0 */
};

/*
 * Asks the SA of the InfiniBand port that id is bound to for its service records, whatever they are for: all that it
 * shows to that port, or those that agree with filter (NULL: all). It is a resolution of id's, with its options,
 * deadline and rai_cancel(), but never answered by what was kept. Returns at once, waiting for nothing, but on a
 * synchronous id.
 *
 * 0, and one event follows: RDMA_CM_EVENT_ADDRINFO_RESOLVED, param.arg: records found; rdma_query_addrinfo() hands them
 * over by GID, id and P_Key, 65536 at most, without routes, and rai_addrinfo_service() has each whole record. Or
 * RDMA_CM_EVENT_ADDRINFO_ERROR as of rdma_resolve_addrinfo() with RAI_SA: -ENOENT, no record agrees.
 *
 * -1 and errno: EINVAL (id NULL, or bound to no device; a reserved field), ENAMETOOLONG, EBUSY (a resolution is under
 * way), ENOTSUP (the port isn't InfiniBand), EACCES (this process may not ask), ENODEV, ENOMEM, EMFILE, EAGAIN. Any
 * thread.
 */
int rai_service_list(struct rdma_cm_id *id, const struct rai_service_filter *filter);

/*
 * Removes a record from the SA of the port that id is bound to, whosever it is, if that SA lets this port: the one of
 * record's id, gid and pkey; of the rest of record only the reserved fields count. Asked with a ServiceKey of zeros:
 * OpenSM looks at no key, and lets any port remove any record. It is a resolution of id's, as above. A publisher that
 * still runs sets its record again.
 *
 * 0, and one RAI_EVENT_SERVICE follows, param.arg 0. Statuses: 0, it is gone; -ENOENT, the SA shows no such record;
 * -EIO, refused: the text has the SA's status; -ECANCELED; -EBUSY, -ETIMEDOUT, -ENETDOWN, -ENODEV, -EACCES, -ENOMEM.
 *
 * -1 and errno: EINVAL (a NULL; id or GID of 0; a reserved field; id bound to no device), ENOTSUP (also a synchronous
 * id), EACCES (no access to the umad device), and the others of rai_service_list(). Any thread.
 */
int rai_service_remove(struct rdma_cm_id *id, const struct rai_service_record *record);

/* An SRV record, in host order (RFC 2782). */
struct rai_srv_record {
	uint16_t priority;		/* the least is tried first */
	uint16_t weight;		/* among those of one priority */
	uint16_t port;
	uint16_t reserved16;
	char target[256];		/* the host, without a dot at its end */
	uint64_t reserved[4];		/* 0 */
};

/*
 * The SRV record behind a result of RAI_SRV. ai: an entry of a list that rdma_query_addrinfo() or rdma_getaddrinfo()
 * gave, not freed yet. errno: EINVAL (NULL), ENOENT (it has none: it isn't of RAI_SRV). Any thread.
 */
int rai_addrinfo_srv(const struct rdma_addrinfo *ai, struct rai_srv_record *record);

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

/* What a step of a resolution is about; more kinds may come. */
enum rai_step_kind {
	RAI_STEP_COURSE = 1,	/* the resolution itself: "asked (the sources of names)" */
	RAI_STEP_FILES = 2,	/* what the host's files say that was read: "resolv.conf: name server 192.0.2.1" */
	RAI_STEP_HOSTS = 3,	/* the hosts file: "it has no a.example" */
	RAI_STEP_QUESTION = 4,	/* at a name server or an SA: "A of a.example at name server 192.0.2.1" */
	RAI_STEP_ANSWER = 5,	/* of one: "A of a.example by name server 192.0.2.1: 2 addresses, TTL 9 s" */
	RAI_STEP_ORDER = 6,	/* an address in its place, and the rule of RFC 6724 that gave it */
	RAI_STEP_KEPT = 7	/* for how long the answer is kept */
};

struct rai_step {
	uint64_t time_ns;	/* of CLOCK_MONOTONIC */
	uint32_t kind;		/* enum rai_step_kind */
	uint32_t request;	/* number of the resolution; 0: of a lookup, which several may share */
	const char *text;	/* in words for people, without control characters; gone after the call */
	const char *server;	/* QUESTION, ANSWER: a name server's address, or DEVICE/PORT whose SA it is; or NULL */
	int32_t status;		/* ANSWER: 0, there are records in it, or -errno as an event would have it; else 0 */
	uint32_t reserved32;	/* 0 */
	int64_t ttl_s;		/* ANSWER, KEPT: seconds that the records may live; -1: it has none */
	int64_t kept_s;		/* KEPT: seconds that the answer is kept; -1: it isn't one */
	uint64_t reserved[4];	/* 0 */
};

struct rai_watcher {
	void (*step)(void *arg, const struct rai_step *step);
	void *arg;
	uint64_t reserved[2];	/* 0 */
};

/*
 * From now on each step of all resolutions of this process is told to watcher->step, in the order in which they are
 * made, but for those of several threads at once, and before the resolution ends. It is called on the library's thread
 * or a caller's, which waits for it and holds nothing that a fork waits for: it may take locks, must return soon, and
 * neither call this library nor fork. *watcher is not copied and must live on, also after
 * rai_watch_steps(NULL), by which nobody is told any more, as a call may be under way. A child of a fork has its
 * parent's watcher. errno: EINVAL (no step; a reserved field), EBUSY (another watches). Any thread.
 */
int rai_watch_steps(const struct rai_watcher *watcher);

#ifdef __cplusplus
}
#endif
#endif
