/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the application's own. */
#include "cm/user.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"

/* A program that writes one writes many: the memory stays with the id, up to a limit. */
static void user_free(struct rcm_event *event)
{
	struct rcm_id *id = event->id;

	if (atomic_load_explicit(&id->spares, memory_order_relaxed) >= RCM_USER_SPARES_MAX) {
		free(event);
		return;
	}
	atomic_fetch_add_explicit(&id->spares, 1, memory_order_relaxed);
	event->spare = atomic_load_explicit(&id->spare, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&id->spare, &event->spare, event, memory_order_release,
						      memory_order_relaxed))
		;
}

static const struct rcm_event_ops user_ops = { .free = user_free };

/* Others put some there meanwhile, but none takes one: a first that is still the first has the same next. */
static struct rcm_event *user_alloc_locked(struct rcm_id *id) RCM_REQUIRES(id->lock)
{
	struct rcm_event *event = atomic_load_explicit(&id->spare, memory_order_acquire);

	rcm_lock_assert_held(&id->lock);
	while (event && !atomic_compare_exchange_weak_explicit(&id->spare, &event, event->spare, memory_order_acquire,
							       memory_order_acquire))
		;
	if (!event)
		return malloc(sizeof(*event));
	atomic_fetch_sub_explicit(&id->spares, 1, memory_order_relaxed);
	return event;
}

int rcm_user_new_locked(struct rcm_id *id, int status, uint64_t arg, struct rcm_event **ret_event)
{
	struct rcm_event *event;

	rcm_lock_assert_held(&id->lock);
	event = user_alloc_locked(id);
	if (!event)
		return -ENOMEM;
	*event = (struct rcm_event){
		.pub = {
			.id = &id->pub,
			.event = RDMA_CM_EVENT_USER,
			.status = status,
			.param.arg = arg,
		},
		.ops = &user_ops,
		.id = rcm_id_ref(id),
	};
	*ret_event = event;
	return 0;
}

int rcm_user_post(struct rcm_id *id, int status, uint64_t arg)
{
	struct rcm_event *event;
	int ret = -EINVAL;

	rcm_lock_acquire(&id->lock);
	if (!id->dead)
		ret = rcm_user_new_locked(id, status, arg, &event);
	if (!ret)
		rcm_channel_post(id->channel, event);
	rcm_lock_release(&id->lock);
	return ret;
}
