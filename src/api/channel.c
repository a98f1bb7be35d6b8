/* SPDX-License-Identifier: BSD-2-Clause */
/* Public calls: event channels and events. */
#include "cm/channel.h"

#include <errno.h>
#include <pthread.h>
#include <rdma/rai.h>
#include <unistd.h>

#include "api/api.h"
#include "api/door.h"
#include "cm/adopt.h"
#include "cm/id.h"
#include "cm/local.h"
#include "cm/sync.h"
#include "cm/user.h"
#include "cm/wait.h"

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rcm_channel *channel = NULL;
	int state = rcm_enter(), ret;

	ret = rcm_channel_new(&channel);
	if (!ret)
		ret = rcm_local_usable(channel);
	if (ret)
		rcm_channel_close(channel);
	rcm_leave(state, ret);
	return ret ? NULL : &channel->pub;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	int state = rcm_enter();

	if (channel)
		rcm_adopt_channel_to_end(rcm_channel_of(channel));
	rcm_wait_give_up_left();
	rcm_channel_close(channel ? rcm_channel_of(channel) : NULL);
	rcm_leave(state, 0);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct rcm_event *taken;
	int ret;

	if (!channel || !event)
		return rcm_result(-EINVAL);
	rcm_adopt_enter();
	ret = rcm_adopt_channel(rcm_channel_of(channel));
	if (ret)
		return rcm_result(ret);
	ret = rcm_channel_get(rcm_channel_of(channel), &taken);
	/* The channel was destroyed. A reader that was left waiting doesn't come back from librdmacm either: programs
	 * whose main thread ends meanwhile, as rping, take an error for theirs. */
	while (ret == -ECANCELED)
		pause();
	if (!ret)
		*event = &taken->pub;
	return rcm_result(ret);
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event)
		return rcm_result(-EINVAL);
	rcm_adopt_enter();
	rcm_event_ack(rcm_event_of(event));
	return 0;
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg)
{
	struct rcm_door door = rcm_door_enter_briefly(id);
	int ret = -EINVAL;

	if (door.id && event == RDMA_CM_EVENT_USER)
		ret = rcm_id_is_sync(door.id) ? rcm_sync_show_own(door.id) : 0;
	if (!ret)
		ret = rcm_user_post(door.id, status, arg);
	return rcm_door_leave(&door, ret);
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	return rcm_event_name(event);
}

int rai_event_text(const struct rdma_cm_event *event, char *buf, size_t len)
{
	if (!event || (len && !buf))
		return rcm_result(-EINVAL);
	return rcm_event_text((const struct rcm_event *)(const void *)event, buf, len);
}
