/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client of the InfiniBand subnet administrator offers. All calls but the ports' are on the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"

struct rcm_gid {
	uint8_t raw[16];		/* network order */
};

/* A local port as last read from the system. */
struct rcm_sa_port {
	char device[20];		/* "mlx5_0"; libibumad's UMAD_CA_NAME_LEN */
	uint8_t number;
	bool infiniband;		/* link layer */
	bool active;			/* port state ACTIVE */
	struct rcm_gid gid;		/* GID 0; of rcm_sa_port_by_gid() the GID asked for */
	uint16_t lid, sm_lid;		/* of rcm_sa_ports() only, InfiniBand only: what routes depend on */
	uint8_t lmc;
};

/* Reads all local ports, at most max, into ports. Returns how many, or -errno. Any thread; local files only. */
int rcm_sa_ports(struct rcm_sa_port *ports, unsigned max);

/* The port that has this GID in its table: 0, or -ENODEV. Any thread. Where it was found before is looked at first, so
 * that it takes three files, however long the tables are. */
int rcm_sa_port_by_gid(const struct rcm_gid *gid, struct rcm_sa_port *ret_port);

/* Whether the port that has this GID is a full member of the partition of that P_Key, whose own membership bit doesn't
 * count. Any thread; a file for each P_Key of the port. */
bool rcm_sa_port_is_full_member(const struct rcm_gid *gid, uint16_t pkey);

/* Which service records: by any of these, or by none; all that are given must match. IBTA 15.2.5.14. */
struct rcm_sa_service_query {
	struct rcm_gid port;		/* GID of the local port to ask through */
	bool by_id, by_name;
	uint64_t service_id;		/* host order */
	char service_name[64];		/* zero-padded */
	bool by_gid, by_pkey;		/* and of that GID, of that P_Key; with an id: one record at most */
	struct rcm_gid gid;
	uint16_t pkey;			/* all 16 bits of it */
	bool by_key;			/* and with that ServiceKey, which no answer shows */
	uint8_t key[16];
	unsigned most;			/* records in the answer; 0: RCM_RESULTS_MAX */
	uint64_t deadline;		/* ns of rcm_clock_now(); 0: none */
};

struct rcm_sa_path_query {
	struct rcm_gid port;		/* GID of the local port: source of the path and way to the SA */
	bool to_all;			/* to each port that there is one to, in one answer; dgid isn't looked at */
	struct rcm_gid dgid;
	uint16_t pkey;			/* host order; 0: of any partition that both ends share */
	uint64_t service_id;		/* host order; 0: left out */
	uint8_t traffic_class;
	uint64_t deadline;
};

/* A ServiceRecord (176 bytes on the wire), host order but for the GID and the data. */
struct rcm_sa_service_record {
	uint64_t id;
	struct rcm_gid gid;
	uint16_t pkey;
	uint32_t lease;			/* seconds; UINT32_MAX: for ever */
	char name[65];			/* NUL-terminated here */
	uint8_t data[64];		/* data8, data16, data32, data64 as on the wire */
};

/* A record that is to be at the SA, or not to be there any more. The SA knows it by its id, GID and P_Key. */
struct rcm_sa_publication {
	struct rcm_gid port;		/* GID of the local port to ask through */
	bool remove;
	bool loose;			/* to remove: without saying that its P_Key counts, by which an SA may look
					 * whether its port is there still */
	struct rcm_sa_service_record record;
	uint8_t key[16];		/* ServiceKey */
	uint64_t deadline;
};

/* Valid during the completion only. */
struct rcm_sa_answer {
	int status;			/* 0 or -errno: ENOENT ETIMEDOUT EBUSY EIO ENETDOWN EACCES ENODEV ENOMEM */
	uint16_t mad_status;		/* as the SA sent it, host order; 0 where it didn't answer */
	bool late;			/* a failure for want of time alone */
	bool too_large;			/* -EIO as it was larger than can be read */
	unsigned count;			/* records in the array below */
	unsigned total;			/* records the SA sent: more than count where it was cut */
	const struct rcm_sa_service_record *services;	/* service(): in the SA's order */
	const uint8_t (*paths)[64];	/* path(): PathRecords as on the wire (struct ibv_path_record) */
	const char *text;		/* failures: which step failed and why, or NULL */
};

typedef void rcm_sa_done_fn(void *arg, const struct rcm_sa_answer *answer);

struct rcm_sa;				/* a client's state */
struct rcm_sa_query;			/* one question under way */

struct rcm_sa_stats {
	uint64_t queries;		/* MADs sent, repeats among them */
	uint64_t retries;
};

/* Each kind of question is an op of its own, and a completion. Beneath them a transaction (sa/txn.h) carries any method
 * and attribute: a new kind is its MAD (sa/wire.h), its start and its completion (sa/client.c), and an op here. */
struct rcm_sa_ops {
	const char *name;

	/* 0 or -errno; opens no device yet. */
	int (*open)(struct rcm_loop *loop, struct rcm_sa **ret_sa);

	/* Start a query: 0, and done is called once, never before the call returned; or -errno and it is not called.
	 * *ret_query is valid until done is called or cancel() was. -EACCES, -ENODEV: the port can't be used;
	 * -EOPNOTSUPP: a path to all can't be asked for. */
	int (*service)(struct rcm_sa *sa, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done, void *arg,
		       struct rcm_sa_query **ret_query);
	int (*path)(struct rcm_sa *sa, const struct rcm_sa_path_query *query, rcm_sa_done_fn *done, void *arg,
		    struct rcm_sa_query **ret_query);

	/* The same, to set or delete a record: the answer has neither records nor paths. */
	int (*publish)(struct rcm_sa *sa, const struct rcm_sa_publication *publication, rcm_sa_done_fn *done, void *arg,
		       struct rcm_sa_query **ret_query);

	/* done will not be called any more. */
	void (*cancel)(struct rcm_sa *sa, struct rcm_sa_query *query);

	/* Something happened to local ports: those that questions wait at are looked at. A question whose port is down
	 * fails with -ENETDOWN; done is not called inside of this. */
	void (*look)(struct rcm_sa *sa);

	void (*stats)(struct rcm_sa *sa, struct rcm_sa_stats *ret_stats);

	/* Ends all without completions. sa NULL: nothing. */
	void (*close)(struct rcm_sa *sa);

	/* In the child of a fork: closes its descriptors and frees memory, touching nothing that the parent shares. */
	void (*abandon)(struct rcm_sa *sa);
};

/* Whether this process may ask the SA through a port by itself: 0, -EACCES, -ENODEV. Any thread; asks no network. That
 * it may, or may not, is believed for a second. */
int rcm_sa_umad_usable(const struct rcm_gid *port);

/* Our own client over libibumad. */
extern const struct rcm_sa_ops rcm_sa_umad;
