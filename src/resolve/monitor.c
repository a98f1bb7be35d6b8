/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices whose asynchronous events are followed. */
#include "resolve/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"

#define LOOK_NS (RCM_ALERTS_LOOK_MS * RCM_NS_PER_MS)
#define PAUSE_NS (RCM_ALERTS_PAUSE_MS * RCM_NS_PER_MS)
#define AGAIN_NS (60 * RCM_NS_PER_S)	/* until a device that can't be opened is tried again */

enum { READ_MAX = 64 };			/* of a device's in one turn of the loop */

/*
 * SHUT     not open; to be tried again, but not before its time
 * OPENING  by a worker, whose it is meanwhile
 * OPEN     and listened to
 * CLOSING  by a worker, whose it is meanwhile
 */
enum monitored_state { MONITORED_SHUT, MONITORED_OPENING, MONITORED_OPEN, MONITORED_CLOSING };

struct rcm_monitored {
	LIST_ENTRY(rcm_monitored) entry;
	struct rcm_monitor *monitor;
	const struct rcm_alerts_ops *ops;
	char device[sizeof(((struct rcm_sa_port *)0)->device)];
	enum monitored_state state;
	bool listed;			/* there was such a device at the last look */
	uint64_t again_at;		/* ns */
	struct rcm_job job;
	int status;			/* of opening */
	struct rcm_alerts *alerts;	/* NULL: not open */
	struct rcm_source source;
};

static const struct rcm_workers_limits monitor_limits = {
	.name = "rai-verbs", .at_once = 2, .threads = 2, .stack = RCM_NSS_STACK,
};

static void monitored_free(struct rcm_monitored *monitored)
{
	LIST_REMOVE(monitored, entry);
	monitored->monitor->count--;
	free(monitored);
}

/* ---- What is told ---- */

static void monitor_tell(struct rcm_timer *timer)
{
	struct rcm_monitor *monitor = rcm_container(timer, struct rcm_monitor, tell_timer);
	bool all = monitor->all;

	monitor->all = false;
	monitor->told_at = monitor->loop->now;
	monitor->ops->changed(monitor, all);
}

/* The first at once; of a device that doesn't come to rest many together. */
static void monitor_note(struct rcm_monitor *monitor, enum rcm_alert alert)
{
	if (alert == RCM_ALERT_OTHER)
		return;
	monitor->all = monitor->all || alert == RCM_ALERT_REREGISTER;
	if (monitor->tell_timer.state == RCM_TIMER_IDLE)
		rcm_timer_start(monitor->loop, &monitor->tell_timer,
				monitor->told_at ? monitor->told_at + PAUSE_NS : 0, monitor_tell);
}

/* ---- One device ---- */

static struct rcm_monitored *monitored_of(struct rcm_job *job)
{
	return rcm_container(job, struct rcm_monitored, job);
}

static void monitored_post(struct rcm_monitored *monitored, enum monitored_state state)
{
	monitored->state = state;
	rcm_workers_post(monitored->monitor->workers, &monitored->job);
}

static void monitored_close(struct rcm_monitored *monitored)
{
	rcm_source_remove(&monitored->source);
	monitored_post(monitored, MONITORED_CLOSING);
}

static void monitored_readable(struct rcm_source *source, uint32_t events)
{
	struct rcm_monitored *monitored = rcm_container(source, struct rcm_monitored, source);
	enum rcm_alert alert = RCM_ALERT_OTHER;
	int ret = 0;

	for (unsigned i = 0; i < READ_MAX && !ret && alert != RCM_ALERT_GONE; i++) {
		ret = monitored->ops->read(monitored->alerts, &alert);
		if (!ret)
			monitor_note(monitored->monitor, alert);
	}
	if (ret == -EAGAIN && !(events & (RCM_BROKEN | RCM_HANGUP)))
		ret = 0;
	if (!ret && alert != RCM_ALERT_GONE)
		return;
	rcm_info("device %s: its asynchronous events have ended", monitored->device);
	if (alert != RCM_ALERT_GONE)
		monitor_note(monitored->monitor, RCM_ALERT_GONE);
	monitored_close(monitored);
}

static void monitored_run(struct rcm_job *job)
{
	struct rcm_monitored *monitored = monitored_of(job);

	if (monitored->state == MONITORED_OPENING) {
		monitored->status = monitored->ops->open(monitored->device, &monitored->alerts);
	} else {
		monitored->ops->close(monitored->alerts);
		monitored->alerts = NULL;
	}
}

static void monitored_listen(struct rcm_monitored *monitored)
{
	int ret = rcm_source_add(monitored->monitor->loop, &monitored->source,
				 monitored->ops->fd(monitored->alerts), RCM_READABLE, monitored_readable);

	if (ret) {
		monitored->again_at = monitored->monitor->loop->now + AGAIN_NS;
		monitored_post(monitored, MONITORED_CLOSING);
	} else {
		monitored->state = MONITORED_OPEN;
	}
}

static void monitored_done(struct rcm_job *job, int status)
{
	struct rcm_monitored *monitored = monitored_of(job);
	bool opening = monitored->state == MONITORED_OPENING;

	if (!status && opening)
		status = monitored->status;
	monitored->state = MONITORED_SHUT;
	if (opening && !status) {
		monitored_listen(monitored);
	} else if (opening) {
		rcm_info("device %s: can't be followed: %s", monitored->device, strerrordesc_np(-status));
		monitored->again_at = monitored->monitor->loop->now + AGAIN_NS;
	} else if (status) {
		/* No thread to close it: rather here than never. */
		monitored_run(&monitored->job);
	}
}

static void monitored_dropped(struct rcm_job *job)
{
	struct rcm_monitored *monitored = monitored_of(job);

	monitored->ops->close(monitored->alerts);
	free(monitored);
}

/* Without memory, or beyond the limit, it isn't followed. */
static void monitored_new(struct rcm_monitor *monitor, const char *device)
{
	static const struct rcm_job_ops ops = { monitored_run, monitored_done, monitored_dropped };
	struct rcm_monitored *monitored;

	if (monitor->count == RCM_ALERTS_DEVICES_MAX)
		return;
	monitored = calloc(1, sizeof(*monitored));
	if (!monitored)
		return;
	monitored->monitor = monitor;
	monitored->ops = monitor->alerts;
	monitored->job.ops = &ops;
	monitored->listed = true;
	memcpy(monitored->device, device, sizeof(monitored->device));
	LIST_INSERT_HEAD(&monitor->devices, monitored, entry);
	monitor->count++;
}

/* ---- All devices ---- */

static struct rcm_monitored *monitored_find(struct rcm_monitor *monitor, const char *device)
{
	struct rcm_monitored *monitored;

	LIST_FOREACH(monitored, &monitor->devices, entry)
		if (!strcmp(monitored->device, device))
			return monitored;
	return NULL;
}

/* Which devices of InfiniBand ports there are. */
static void devices_list(struct rcm_monitor *monitor)
{
	struct rcm_sa_port ports[RCM_SA_PORTS_MAX];
	struct rcm_monitored *monitored;
	int count = monitor->ops->ports(ports, RCM_SA_PORTS_MAX);

	LIST_FOREACH(monitored, &monitor->devices, entry)
		monitored->listed = false;
	for (int i = 0; i < count; i++) {
		if (!ports[i].infiniband)
			continue;
		monitored = monitored_find(monitor, ports[i].device);
		if (monitored)
			monitored->listed = true;
		else
			monitored_new(monitor, ports[i].device);
	}
}

static bool monitor_is_needed(struct rcm_monitor *monitor)
{
	return monitor->until > monitor->loop->now || monitor->ops->needed(monitor);
}

static void monitor_look(struct rcm_timer *timer)
{
	struct rcm_monitor *monitor = rcm_container(timer, struct rcm_monitor, look_timer);
	struct rcm_monitored *monitored, *next;
	bool needed = monitor_is_needed(monitor);

	if (needed)
		devices_list(monitor);
	for (monitored = LIST_FIRST(&monitor->devices); monitored; monitored = next) {
		next = LIST_NEXT(monitored, entry);
		if (monitored->state == MONITORED_OPEN && !needed)
			monitored_close(monitored);
		else if (monitored->state == MONITORED_SHUT && (!needed || !monitored->listed))
			monitored_free(monitored);
		else if (monitored->state == MONITORED_SHUT && monitored->again_at <= monitor->loop->now)
			monitored_post(monitored, MONITORED_OPENING);
	}
	if (needed || monitor->count)
		rcm_timer_start(monitor->loop, timer, monitor->loop->now + LOOK_NS, monitor_look);
}

/* ---- From outside ---- */

void rcm_monitor_init(struct rcm_monitor *monitor, struct rcm_loop *loop, const struct rcm_monitor_ops *ops,
		      const struct rcm_alerts_ops *alerts)
{
	*monitor = (struct rcm_monitor){ .loop = loop, .ops = ops, .alerts = alerts };
	LIST_INIT(&monitor->devices);
}

void rcm_monitor_want(struct rcm_monitor *monitor, uint64_t until)
{
	if (until > monitor->until)
		monitor->until = until;
	if (!monitor->loop || !monitor->alerts || monitor->look_timer.state != RCM_TIMER_IDLE)
		return;
	if (!monitor->workers && rcm_workers_open(monitor->loop, &monitor_limits, &monitor->workers))
		return;
	rcm_timer_start(monitor->loop, &monitor->look_timer, 0, monitor_look);
}

void rcm_monitor_abandon(struct rcm_monitor *monitor)
{
	struct rcm_monitored *monitored;

	/* The workers aren't here: what one was opening or closing is left as it is. */
	rcm_workers_abandon(monitor->workers);
	while (monitor->loop && (monitored = LIST_FIRST(&monitor->devices))) {
		if (monitored->state == MONITORED_OPEN)
			monitored->ops->close(monitored->alerts);
		monitored_free(monitored);
	}
	*monitor = (struct rcm_monitor){ .loop = NULL };
}

void rcm_monitor_done(struct rcm_monitor *monitor)
{
	struct rcm_monitored *monitored, *next;

	rcm_timer_stop(monitor->loop, &monitor->look_timer);
	rcm_timer_stop(monitor->loop, &monitor->tell_timer);
	for (monitored = LIST_FIRST(&monitor->devices); monitored; monitored = next) {
		next = LIST_NEXT(monitored, entry);
		rcm_source_remove(&monitored->source);
		/* The others are a worker's, who frees them. */
		if (monitored->state == MONITORED_OPEN)
			monitored->ops->close(monitored->alerts);
		if (monitored->state == MONITORED_OPEN || monitored->state == MONITORED_SHUT)
			free(monitored);
	}
	rcm_workers_close(monitor->workers);
}
