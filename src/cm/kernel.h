/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's side of an id: its beginning and end there, and the one way to give it a command. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ucma/ucma.h"

struct rcm_channel;
struct rcm_id;

/* Makes the kernel's id, where the channel that id is on has a kernel side: 0, what CREATE_ID said. Here and
 * in the next nobody else has id yet. */
int rcm_kernel_create(struct rcm_id *id);

/* Takes over a kernel's id that exists already, on the channel from, and doesn't know this one by uid before ACCEPT:
 * brings it to the channel that id is on. 0, what MIGRATE_ID said: it is still the caller's, and
 * id can only be freed. */
int rcm_kernel_adopt(struct rcm_id *id, uint32_t handle, struct rcm_channel *from);

/*
 * Gives id a new kernel's id, bound to nothing, on the same channel and known by the same uid, and ends the one that it
 * had; what of events the kernel has for that is lost. 0, -ENODEV: it has none; -EINVAL: it is being destroyed; what
 * CREATE_ID said. No lock held.
 */
int rcm_kernel_renew(struct rcm_id *id);

/* Waits for commands under way, then ends it, on channel, where id stays. id is dead: no other command is given. Where
 * there is none: nothing. */
void rcm_kernel_end(struct rcm_id *id, struct rcm_channel *channel);

/*
 * What ends something in the kernel takes its events back. A reader of a bare descriptor who was told of one has read
 * it before: the read would wait for the next. A kernel's id, on channel, that is nobody's; and a membership of id's:
 * 0, -EINVAL: id is being destroyed; what LEAVE_MCAST said.
 */
void rcm_kernel_destroy(struct rcm_channel *channel, uint32_t handle);
int rcm_kernel_leave_mcast(struct rcm_id *id, uint32_t membership);

/* Whether it has, or had, a kernel side. */
bool rcm_kernel_has(struct rcm_id *id);

/*
 * Gives the kernel a command for id, on the descriptor of the channel that the id is on: rcm_kernel_give(id,
 * rcm_ucma_listen, backlog). Where the id was moved to another channel meanwhile, which the kernel refuses, it is given
 * again. While a command is under way, the kernel's id isn't ended, so its handle names no other one.
 * Returns what the command did; -ENODEV: the id never had a kernel side; -EINVAL: it is being destroyed
 * (rcm_id_is_dead()), and no command was given. No lock held but, maybe, that of its queues.
 */
#define rcm_kernel_give(id, command, ...) ({ \
	struct rcm_kernel_try try_ = { (id) }; \
	\
	while (rcm_kernel_try(&try_)) \
		try_.ret = command(try_.ucma, try_.handle, ##__VA_ARGS__); \
	try_.ret; \
})

/* One command on its way. */
struct rcm_kernel_try {
	struct rcm_id *id;
	struct rcm_channel *channel;		/* stays as long as it is under way; NULL: not begun */
	const struct rcm_ucma *ucma;
	uint32_t handle;
	uint8_t stay;				/* of the id on channel */
	int ret;
};

/* Whether the command is to be given now, on try->ucma: the first time, and again where ret came of a migration. */
bool rcm_kernel_try(struct rcm_kernel_try *try);
