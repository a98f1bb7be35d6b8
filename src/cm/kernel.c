/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's side of an id: its beginning and end there, and the one way to give it a command. */
#include "cm/kernel.h"

#include <errno.h>

#include "base/log.h"
#include "cm/id.h"
#include "cm/table.h"

/* Of an id that nobody else has yet: it needs no lock. */
static void kernel_set_handle(struct rcm_id *id, uint32_t handle) RCM_UNCHECKED
{
	id->handle = handle;
	id->has_handle = true;
}

int rcm_kernel_create(struct rcm_id *id) RCM_UNCHECKED
{
	const struct rcm_ucma *ucma = &id->channel->ucma;
	uint32_t handle;
	int ret;

	if (ucma->fd < 0)
		return 0;
	ret = rcm_table_add(id, &id->uid);
	if (ret)
		return ret;
	ret = rcm_ucma_create_id(ucma, id->uid, id->pub.ps, id->pub.qp_type, &handle);
	if (ret)
		rcm_table_remove(id->uid);
	else
		kernel_set_handle(id, handle);
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
	int ret;

	ret = rcm_table_add(id, &id->uid);
	if (ret)
		return ret;
	ret = kernel_fetch(id->channel, handle, from);
	if (ret)
		rcm_table_remove(id->uid);
	else
		kernel_set_handle(id, handle);
	return ret;
}

/* The last command of a dead id lets it go. */
static void kernel_wait_idle_locked(struct rcm_id *id) RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	while (!rcm_id_is_idle_locked(id))
		rcm_lock_wait(&id->lock, &id->changed);
}

void rcm_kernel_destroy(struct rcm_channel *channel, uint32_t handle)
{
	uint32_t events;
	int ret;

	rcm_lock_acquire(&channel->reading);
	ret = rcm_ucma_destroy_id(&channel->ucma, handle, &events);
	atomic_fetch_add_explicit(&channel->reads, 1, memory_order_relaxed);
	rcm_lock_release(&channel->reading);
	if (ret)
		rcm_info("DESTROY_ID of handle %u: errno %d", handle, -ret);
}

/* Nothing changes a dead id's handle once no command is under way. */
void rcm_kernel_end(struct rcm_id *id, struct rcm_channel *channel, bool idle) RCM_UNCHECKED
{
	rcm_table_remove(id->uid);
	if (!idle) {
		rcm_lock_acquire(&id->lock);
		kernel_wait_idle_locked(id);
		rcm_lock_release(&id->lock);
	}
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
static bool kernel_begin_locked(struct rcm_id *id, struct rcm_kernel_try *try) RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	try->ret = id->dead ? -EINVAL : id->has_handle ? 0 : -ENODEV;
	if (try->ret)
		return false;
	try->stay = id->stay;
	id->commands[try->stay]++;
	try->channel = rcm_channel_ref(id->channel);
	try->ucma = &try->channel->ucma;
	try->handle = id->handle;
	return true;
}

/* The kernel knows an id on one descriptor only: true where it was not this one any more. */
static bool kernel_finish_locked(struct rcm_id *id, const struct rcm_kernel_try *try) RCM_REQUIRES(id->lock)
{
	rcm_lock_assert_held(&id->lock);
	if (!--id->commands[try->stay])
		pthread_cond_broadcast(&id->changed);
	return try->ret == -EINVAL && try->channel != id->channel;
}

bool rcm_kernel_try(struct rcm_kernel_try *try)
{
	struct rcm_channel *last = try->channel;
	struct rcm_id *id = try->id;
	bool given;

	rcm_lock_acquire(&id->lock);
	given = !last || kernel_finish_locked(id, try);
	if (given)
		given = kernel_begin_locked(id, try);
	rcm_lock_release(&id->lock);
	rcm_channel_put(last);
	return given;
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

/* Puts a handle that was made on a channel in the place of the id's: true, unless the id has left that channel. */
static bool kernel_replace(struct rcm_id *id, const struct rcm_kernel_try *try, uint32_t handle)
{
	bool placed;

	rcm_lock_acquire(&id->lock);
	placed = !id->dead && id->channel == try->channel && id->handle == try->handle;
	if (placed)
		id->handle = handle;
	rcm_lock_release(&id->lock);
	return placed;
}

/* The command is over; from then on none is under way that has the old handle. */
static void kernel_settle(struct rcm_id *id, struct rcm_kernel_try *try)
{
	rcm_lock_acquire(&id->lock);
	kernel_finish_locked(id, try);
	kernel_wait_idle_locked(id);
	rcm_lock_release(&id->lock);
}

int rcm_kernel_renew(struct rcm_id *id)
{
	struct rcm_kernel_try try = { .id = id };
	bool begun, placed = false;
	uint32_t handle;

	while (!placed) {
		rcm_lock_acquire(&id->lock);
		begun = kernel_begin_locked(id, &try);
		rcm_lock_release(&id->lock);
		if (!begun)
			return try.ret;
		try.ret = rcm_ucma_create_id(try.ucma, id->uid, id->pub.ps, id->pub.qp_type, &handle);
		placed = !try.ret && kernel_replace(id, &try, handle);
		kernel_settle(id, &try);
		if (!try.ret)
			rcm_kernel_destroy(try.channel, placed ? try.handle : handle);
		rcm_channel_put(try.channel);
		if (try.ret)
			return try.ret;
	}
	return 0;
}
