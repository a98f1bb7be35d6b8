/* SPDX-License-Identifier: BSD-2-Clause */
/* A question while UDP or TCP carries it to a name server: what both know of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/table.h"
#include "dns/random.h"
#include "dns/message.h"
#include "loop/loop.h"

struct rcm_carried;

struct rcm_carried_ops {
	/* Writes the message that asks it, when it is sent. */
	size_t (*write)(struct rcm_carried *carried, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX]);

	/* A message with its id came. False: it doesn't answer this question. True: it has been put down before. */
	bool (*take)(struct rcm_carried *carried, const uint8_t *bytes, size_t len);

	/* It can't be carried on, and has been put down: -errno. -ECONNRESET: its connection ended in the middle. */
	void (*fail)(struct rcm_carried *carried, int error);
};

/* Embedded in what asks; zeroed before first use. */
struct rcm_carried {
	const struct rcm_carried_ops *ops;
	void *by;			/* the socket or connection that carries it; NULL: none does */
	TAILQ_ENTRY(rcm_carried) entry;	/* of those to be sent */
	UT_hash_handle hh;		/* by id, in the table of the one that carries it */
	uint16_t id;
	bool unsent;
};

TAILQ_HEAD(rcm_carrieds, rcm_carried);

enum { RCM_CARRY_BATCH = 32 };		/* messages of one system call */

/* What all that carry have in common. */
struct rcm_carry {
	struct rcm_loop *loop;
	struct rcm_random random;
	uint8_t *received;		/* RCM_CARRY_BATCH messages of any length; NULL: not needed yet */
	uint64_t dropped;		/* messages that answered nothing */
};

/* Gives it an id that is free in table, and puts it in: 0 or -ENOMEM. */
int rcm_carried_register(struct rcm_carry *carry, struct rcm_carried **table, struct rcm_carried *carried);

struct rcm_carried *rcm_carried_find(struct rcm_carried *table, uint16_t id);
void rcm_carried_unregister(struct rcm_carried **table, struct rcm_carried *carried);

/* A socket of that type to a name server, which doesn't block, and may still be connecting; or -errno. */
int rcm_carry_connect(const union rcm_dns_address *address, int type);
