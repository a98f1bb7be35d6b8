/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's side of an id: its beginning and end there, and the one way to give it a command. */
#include "cm/kernel.h"

#include <errno.h>

#include "base/log.h"
#include "cm/id.h"

/* Here and in the next nobody else has the id yet: it needs no lock. */
int rcm_kernel_create(struct rcm_id *id) RCM_UNCHECKED
{
	const struct rcm_ucma *ucma = &id->channel->ucma;
	int ret;

	if (ucma->fd < 0)
		return 0;
	ret = rcm_ucma_create_id(ucma, id->entry.uid, id->pub.ps, id->pub.qp_type, &id->handle);
	id->has_handle = !ret;
	return ret;
}

/* It has no events before ACCEPT, so that none have to be brought along. */
static int kernel_fetch(struct rcm_channel *to, uint32_t handle, struct rcm_channel *from)
{
	uint32_t events;
	int ret;

	if (to == from)
		return 0;
	rcm_lock_acquire(&from->lock);
	ret = rcm_ucma_migrate_id(&to->ucma, handle, from->ucma.fd, &events);
	rcm_lock_release(&from->lock);
	return ret;
}

int rcm_kernel_adopt(struct rcm_id *id, uint32_t handle, struct rcm_channel *from) RCM_UNCHECKED
{
	id->handle = handle;
	id->has_handle = true;
	return kernel_fetch(id->channel, handle, from);
}

static int kernel_destroy_bare(struct rcm_channel *channel, uint32_t handle)
{
	uint32_t events;
	int ret;

	rcm_lock_acquire(&channel->reading);
	ret = rcm_ucma_destroy_id(&channel->ucma, handle, &events);
	atomic_fetch_add_explicit(&channel->reads, 1, memory_order_relaxed);
	rcm_lock_release(&channel->reading);
	return ret;
}

/* On one that isn't bare any more no read waits. */
void rcm_kernel_destroy(struct rcm_channel *channel, uint32_t handle)
{
	uint32_t events;
	int ret = channel->bare ? kernel_destroy_bare(channel, handle) :
				  rcm_ucma_destroy_id(&channel->ucma, handle, &events);

	if (ret)
		rcm_info("DESTROY_ID of handle %u: errno %d", handle, -ret);
}

/* Nothing changes a dead id's handle once no command is under way. */
void rcm_kernel_end(struct rcm_id *id, struct rcm_channel *channel) RCM_UNCHECKED
{
	rcm_id_wait_commands(id, 0);
	rcm_id_wait_commands(id, 1);
	rcm_id_wait_renewals(id);
	if (id->has_handle)
		rcm_kernel_destroy(channel, id->handle);
}

bool rcm_kernel_has(struct rcm_id *id)
{
	bool has;

	rcm_lock_acquire(&id->lock);
	has = id->has_handle;
	rcm_lock_release(&id->lock);
	return has;
}

/* Gives it on the channel that the id is on, if it can be given at all. */
static bool kernel_begin(struct rcm_kernel_try *try)
{
	struct rcm_id *id = try->id;

	rcm_lock_acquire(&id->lock);
	try->ret = id->dead ? -EINVAL : id->has_handle ? 0 : -ENODEV;
	if (!try->ret) {
		try->stay = id->stay;
		atomic_fetch_add_explicit(&id->commands[try->stay], 1, memory_order_relaxed);
		try->channel = id->channel;
		try->ucma = &id->channel->ucma;
		try->handle = id->handle;
	}
	rcm_lock_release(&id->lock);
	return !try->ret;
}

/* The kernel knows an id on one descriptor only: true where it was not this one any more. */
static bool kernel_was_elsewhere(const struct rcm_kernel_try *try)
{
	struct rcm_id *id = try->id;
	bool elsewhere;

	if (try->ret != -EINVAL)
		return false;
	rcm_lock_acquire(&id->lock);
	elsewhere = try->channel != id->channel;
	rcm_lock_release(&id->lock);
	return elsewhere;
}

bool rcm_kernel_try(struct rcm_kernel_try *try)
{
	bool again = true;

	if (try->channel) {
		/* Before it is over: from then on the channel may be gone, and its address another's. */
		again = kernel_was_elsewhere(try);
		rcm_id_command_over(try->id, try->stay);
	}
	return again && kernel_begin(try);
}

/* The membership has a handle of its own. */
int rcm_kernel_leave_mcast(struct rcm_id *id, uint32_t membership)
{
	struct rcm_kernel_try try = { .id = id };
	uint32_t events;

	while (rcm_kernel_try(&try)) {
		rcm_lock_acquire(&try.channel->reading);
		try.ret = rcm_ucma_leave_mcast(try.ucma, membership, &events);
		atomic_fetch_add_explicit(&try.channel->reads, 1, memory_order_relaxed);
		rcm_lock_release(&try.channel->reading);
	}
	return try.ret;
}

/* Puts a handle that was made on a channel in the place of the id's: true, unless the id has left that channel.
 * The renewal counts before its command is over, and keeps the channel until the old handle is ended. */
static bool kernel_replace(struct rcm_id *id, const struct rcm_kernel_try *try, uint32_t handle)
{
	bool placed;

	rcm_lock_acquire(&id->lock);
	placed = !id->dead && id->channel == try->channel && id->handle == try->handle;
	if (placed) {
		id->handle = handle;
		atomic_fetch_add(&id->renewals, 1);
	}
	rcm_lock_release(&id->lock);
	return placed;
}

/* Once no command is under way that has the old handle. */
static void kernel_end_replaced(struct rcm_id *id, const struct rcm_kernel_try *try)
{
	rcm_id_wait_commands(id, 0);
	rcm_id_wait_commands(id, 1);
	rcm_kernel_destroy(try->channel, try->handle);
	rcm_id_renewal_over(id);
}

int rcm_kernel_renew(struct rcm_id *id)
{
	struct rcm_kernel_try try = { .id = id };
	bool placed = false;
	uint32_t handle;

	while (!try.ret && !placed && kernel_begin(&try)) {
		try.ret = rcm_ucma_create_id(try.ucma, id->entry.uid, id->pub.ps, id->pub.qp_type, &handle);
		placed = !try.ret && kernel_replace(id, &try, handle);
		if (!try.ret && !placed)
			rcm_kernel_destroy(try.channel, handle);
		rcm_id_command_over(id, try.stay);
	}
	if (placed)
		kernel_end_replaced(id, &try);
	return try.ret;
}
