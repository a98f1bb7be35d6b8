/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to an SA: a local port, open or not, and where its SM is. */
#pragma once

#include "sa/umad.h"

struct rcm_way {
	const struct rcm_umad_ops *ops;
	struct rcm_sa_port port;	/* known by its GID until it is found */
	struct rcm_umad *umad;		/* NULL: not open */
	struct rcm_sa_address address;
	uint64_t address_until;		/* ns; believed until then; 0: not at all */
	uint64_t moved_at;		/* ns; when the SM was found to be at another LID; 0: never */
};

/* Finds its port and opens it: 0 or -errno. Where it was closed its device may have come back under another name. */
int rcm_way_open(struct rcm_way *way);

/* Of one that isn't open: nothing. */
void rcm_way_close(struct rcm_way *way);

/* Reads anew where the SM is, and all that belongs to it where it is in doubt: 0, -ENETDOWN, -ENODEV. */
int rcm_way_look(struct rcm_way *way, bool in_doubt);

/* As the ops' send() and recv(), and told. */
int rcm_way_send(struct rcm_way *way, unsigned agent, const uint8_t *mad, unsigned listen_ms);
int rcm_way_recv(struct rcm_way *way, struct rcm_umad_message *ret_message);
