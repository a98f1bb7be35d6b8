/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device tells of its ports by itself. */
#include "verbs/alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fds.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sysfs.h"

struct rcm_alerts {
	struct ibv_context *verbs;
};

/* Held while libibverbs lists devices, which takes a lock of its own: a child would find it held for ever. */
static struct rcm_lock listing = RCM_LOCK_INIT;

static struct ibv_device **verbs_list(void)
{
	struct ibv_device **list;

	rcm_lock_acquire(&listing);
	list = ibv_get_device_list(NULL);
	rcm_lock_release(&listing);
	return list;
}

static int context_open(const char *name, struct ibv_context **ret_context)
{
	struct ibv_device **list = verbs_list();
	int ret = -ENODEV;

	if (!list)
		return rcm_errno();
	for (struct ibv_device **at = list; *at; at++) {
		if (strcmp(ibv_get_device_name(*at), name) != 0)
			continue;
		*ret_context = ibv_open_device(*at);
		ret = *ret_context ? 0 : rcm_errno();
		break;
	}
	ibv_free_device_list(list);
	return ret;
}

/* Its descriptors are closed in the child of a fork, and nothing is waited for in reading. */
static int context_take(struct ibv_context *context)
{
	int ret, flags = fcntl(context->async_fd, F_GETFL);

	if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) ||
	    fcntl(context->async_fd, F_SETFD, FD_CLOEXEC))
		return rcm_errno();
	ret = rcm_fds_take(context->async_fd);
	if (ret)
		return ret;
	ret = rcm_fds_take(context->cmd_fd);
	if (ret)
		rcm_fds_forget(context->async_fd);
	return ret;
}

static int alerts_open(const char *device, struct rcm_alerts **ret_alerts)
{
	struct rcm_alerts *alerts;
	int ret;

	/* libibverbs would look for modules. */
	if (!rcm_sysfs_has("class/infiniband_verbs/abi_version"))
		return -ENODEV;
	alerts = calloc(1, sizeof(*alerts));
	if (!alerts)
		return -ENOMEM;
	ret = context_open(device, &alerts->verbs);
	if (ret)
		goto out;
	ret = context_take(alerts->verbs);
	if (ret) {
		ibv_close_device(alerts->verbs);
		goto out;
	}
	rcm_trace("device %s: its asynchronous events are followed", device);
	*ret_alerts = alerts;
	alerts = NULL;
out:
	free(alerts);
	return ret;
}

static int alerts_fd(const struct rcm_alerts *alerts)
{
	return alerts->verbs->async_fd;
}

static enum rcm_alert alert_of(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_GID_CHANGE:
		return RCM_ALERT_PORT;
	case IBV_EVENT_CLIENT_REREGISTER:
		return RCM_ALERT_REREGISTER;
	case IBV_EVENT_DEVICE_FATAL:
		return RCM_ALERT_GONE;
	default:
		return RCM_ALERT_OTHER;
	}
}

static int alerts_read(struct rcm_alerts *alerts, enum rcm_alert *ret_alert)
{
	struct ibv_async_event event;

	errno = 0;
	if (ibv_get_async_event(alerts->verbs, &event)) {
		/* A read that is short says nothing. */
		int ret = errno ? rcm_errno() : -EIO;

		return ret == -EINTR ? -EAGAIN : ret;
	}
	*ret_alert = alert_of(event.event_type);
	ibv_ack_async_event(&event);
	return 0;
}

static void alerts_close(struct rcm_alerts *alerts)
{
	if (!alerts)
		return;
	/* In the child of a fork they were closed at the fork. */
	if (rcm_fds_forget(alerts->verbs->async_fd) && rcm_fds_forget(alerts->verbs->cmd_fd))
		ibv_close_device(alerts->verbs);
	free(alerts);
}

const struct rcm_alerts_ops rcm_alerts_verbs = {
	.name = "verbs", .open = alerts_open, .fd = alerts_fd, .read = alerts_read, .close = alerts_close,
};

__attribute__((constructor)) static void alerts_watch_forks(void)
{
	rcm_fork_watch_lock(RCM_FORK_LISTING, &listing);
}
