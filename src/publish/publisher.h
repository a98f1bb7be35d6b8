/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All services that the process publishes: turns at the SA, a few at a time; what their ports do meanwhile; who has
 * which place. All calls are on the loop's thread.
 */
#pragma once

#include <sys/queue.h>

#include "publish/registration.h"

struct rcm_publisher;

struct rcm_publisher_ops {
	/* The client to speak to an SA with: 0 or -errno. */
	int (*sa)(struct rcm_publisher *publisher, const struct rcm_sa_ops **ret_ops, struct rcm_sa **ret_sa);

	/* As rcm_publish_look(). */
	int (*look)(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port);

	uint64_t (*random)(struct rcm_publisher *publisher);
};

/* One registration of its. */
struct rcm_published {
	LIST_ENTRY(rcm_published) entry;
	TAILQ_ENTRY(rcm_published) line;
	struct rcm_publisher *publisher;
	struct rcm_watched *watched;		/* its port; NULL: there were too many */
	struct rcm_registration registration;

	/* Called on the loop's thread: as tell() and over() of struct rcm_registration_ops. */
	void (*tell)(struct rcm_published *published, const struct rcm_service_outcome *outcome);
	void (*over)(struct rcm_published *published);
};

/* A port that some registration is at. */
struct rcm_watched {
	struct rcm_gid gid;			/* that registrations know it by */
	unsigned users;				/* 0: the place is free */
	bool known;				/* seen is what the last look found; else none has that GID */
	uint64_t looked_at, pkeys_at;		/* ns; 0: never */
	uint64_t stirred_until;			/* ns; until then a loss stirs no other registration */
	struct rcm_publish_port seen;
};

struct rcm_publisher {
	struct rcm_loop *loop;			/* NULL: nothing was published yet */
	const struct rcm_publisher_ops *ops;
	LIST_HEAD(, rcm_published) all;
	TAILQ_HEAD(rcm_published_line, rcm_published) line;	/* wants a turn */
	unsigned turns;				/* under way */
	struct rcm_watched watched[RCM_SA_PORTS_MAX];
	bool pkeys_again;			/* at the next look, whatever their time is */
	struct rcm_timer look_timer, turn_timer;
};

void rcm_publisher_init(struct rcm_publisher *publisher, struct rcm_loop *loop, const struct rcm_publisher_ops *ops);

/* Publishes what published->registration.offer says, under the key that is there; both calls of published are set. */
void rcm_publisher_add(struct rcm_publisher *publisher, struct rcm_published *published);

/* Takes it back: over() follows, not inside of this call. */
void rcm_publisher_remove(struct rcm_published *published);

/* Something happened to local ports: they are looked at, P_Keys and all; what is at one that changed is set again,
 * or, of all, where the SM asked for that, everything. */
void rcm_publisher_ports_changed(struct rcm_publisher *publisher, bool all);

/* In the child of a fork, or where the loop was lost: forgets all, without a word to anybody, each by forget(). */
void rcm_publisher_abandon(struct rcm_publisher *publisher, void (*forget)(struct rcm_published *published));
