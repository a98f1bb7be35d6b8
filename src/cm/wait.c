/* SPDX-License-Identifier: BSD-2-Clause */
/* A blocked reader of a channel: until an event is due, and its delivery agrees. */
#include "cm/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "base/err.h"
#include "base/log.h"

static int wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, -1) < 0)
		return rcm_errno();
	return p.revents & POLLNVAL ? -EBADF : 0;
}

static bool is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* As take(), until deliver() agrees. */
static int take_delivered(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	struct rcm_event *event = NULL;
	int ret, cancel;

	/* The kernel's commands are write(2), a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!(ret = rcm_channel_take(channel, types, &event))) {
		if (!rcm_event_deliver(event))
			break;
		rcm_trace("%s for nobody dropped", rcm_event_name(event->pub.event));
		rcm_event_untake(event);
	}
	pthread_setcancelstate(cancel, NULL);
	if (!ret)
		*ret_event = event;
	return ret;
}

static int get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret;

	while ((ret = take_delivered(channel, types, ret_event)) == -EAGAIN) {
		if (!is_blocking(channel->pub.fd))
			return -EAGAIN;
		ret = wait_readable(channel->pub.fd);
		if (ret)
			return ret;
	}
	return ret;
}

int rcm_channel_get(struct rcm_channel *channel, struct rcm_event **ret_event)
{
	return get_of(channel, RCM_EVENTS_ALL, ret_event);
}

int rcm_channel_get_of(struct rcm_channel *channel, uint32_t types, struct rcm_event **ret_event)
{
	int ret = get_of(channel, types, ret_event);

	rcm_channel_put_back_aside(channel);
	return ret;
}
