/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of the host that decide what names mean. */
#include "dns/etc.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/stamp.h"
#include "dns/watch.h"
#include "dns/workers.h"
#include "loop/timer.h"

enum etc_file { NSSWITCH, GAI, HOST, RESOLV, HOSTS, SERVICES, FILES };

static_assert((int)FILES <= (int)RCM_WATCH_PATHS_MAX, "a watch for each file");

/*
 * UNREAD   nothing was ever read; whoever asks waits			(rcm_etc_open)
 * LOOKING  a look is under way; whoever asks waits, but not long	(look_start)
 * OVERDUE  the look takes its time; what was read before is in force	(look_overdue)
 * SETTLED  what was read is in force					(look_done)
 * RESTING  nobody asked for a while, and nothing is watched		(etc_rest)
 */
enum etc_state { UNREAD, LOOKING, OVERDUE, SETTLED, RESTING };

/* A look at the files, on the thread that reads. It owns all that it needs: its etc may be gone when it comes back. */
struct look {
	struct rcm_job job;
	struct rcm_etc *etc;			/* not to be touched by that thread */
	struct rcm_watch *watch;
	const struct rcm_etc_files *files;
	struct rcm_stamp stamps[FILES];
	uint64_t began;				/* ns */
	struct rcm_etc_news news;
	int status;
};

struct rcm_etc {
	struct rcm_loop *loop;
	const struct rcm_etc_files *files;
	const struct rcm_etc_ops *ops;
	void *arg;
	struct rcm_workers *workers;
	struct rcm_watch *watch;
	struct look *look;			/* under way; NULL: none */
	bool known;				/* there is a configuration in force */
	struct rcm_pick pick;
	bool hosts_beyond_us;
	struct rcm_stamp stamps[FILES];		/* of what is in force */
	struct rcm_timer patience;
	_Atomic(enum etc_state) state;
	_Atomic(uint64_t) looked_at;		/* ns: when the last look that is over began */
	_Atomic(uint64_t) asked_at;		/* ns: when somebody last wanted to know */
	struct rcm_timer rest;
};

const struct rcm_etc_files rcm_etc_system = {
	.pick = { .nsswitch = "/etc/nsswitch.conf", .gai = "/etc/gai.conf", .host = "/etc/host.conf" },
	.resolv = "/etc/resolv.conf", .hosts = "/etc/hosts", .services = "/etc/services",
};

static const struct rcm_workers_limits etc_limits = {
	.name = "rai-files", .at_once = 1, .threads = 1, .stack = RCM_THREAD_STACK,
};

/* ---- On the thread that reads ---- */

/* One that is too large is left to getaddrinfo(); whoever wants the hosts file alone finds nothing in it. */
static int look_hosts(struct look *look)
{
	bool first_line_only = !look->news.pick.multi;
	int ret = rcm_hosts_read(look->files->hosts, first_line_only, &look->news.hosts);

	look->news.hosts_beyond_us = ret == -EFBIG;
	return ret == -EFBIG ? rcm_hosts_read("/dev/null", first_line_only, &look->news.hosts) : ret;
}

static int look_read(struct look *look, const bool changed[FILES])
{
	bool pick = changed[NSSWITCH] || changed[GAI] || changed[HOST];
	int ret = 0;

	if (pick)
		ret = rcm_pick_read(&look->files->pick, &look->news.pick);
	if (!ret && changed[RESOLV])
		ret = rcm_resolv_read(look->files->resolv, &look->news.resolv);
	if (!ret && (changed[HOSTS] || changed[HOST]))
		ret = look_hosts(look);
	look->news.names_changed = pick || changed[RESOLV] || changed[HOSTS];
	look->news.services_changed = changed[SERVICES] || changed[NSSWITCH];
	return ret;
}

static struct look *look_of(struct rcm_job *job)
{
	return rcm_container(job, struct look, job);
}

/* Watched before it is looked at: what comes later is told. */
static void look_run(struct rcm_job *job)
{
	struct look *look = look_of(job);
	const struct rcm_etc_files *files = look->files;
	const char *const paths[FILES] = {
		[NSSWITCH] = files->pick.nsswitch, [GAI] = files->pick.gai, [HOST] = files->pick.host,
		[RESOLV] = files->resolv, [HOSTS] = files->hosts, [SERVICES] = files->services,
	};
	bool changed[FILES];

	rcm_watch_renew(look->watch, paths, FILES);
	for (int i = 0; i < FILES; i++)
		changed[i] = rcm_stamp_changed(&look->stamps[i], paths[i]);
	look->status = look_read(look, changed);
}

static void look_free(struct rcm_job *job)
{
	struct look *look = look_of(job);

	rcm_resolv_put(look->news.resolv);
	rcm_hosts_free(look->news.hosts);
	rcm_watch_put(look->watch);
	free(look);
}

/* ---- On the loop's thread ---- */

static void look_done(struct rcm_job *job, int status);

static const struct rcm_job_ops look_ops = { .run = look_run, .done = look_done, .free = look_free };

static void look_overdue(struct rcm_timer *timer)
{
	struct rcm_etc *etc = rcm_container(timer, struct rcm_etc, patience);

	rcm_info("dns: the host's files take their time; names go on with what was read before");
	atomic_store(&etc->state, OVERDUE);
	etc->ops->settled(etc->arg, 0);
}

static int look_start(struct rcm_etc *etc)
{
	struct look *look = calloc(1, sizeof(*look));

	if (!look)
		return -ENOMEM;
	look->job.ops = &look_ops;
	look->etc = etc;
	look->watch = rcm_watch_get(etc->watch);
	look->files = etc->files;
	look->began = rcm_clock_now();
	look->news.pick = etc->pick;
	look->news.hosts_beyond_us = etc->hosts_beyond_us;
	memcpy(look->stamps, etc->stamps, sizeof(look->stamps));
	etc->look = look;
	/* Before the news are forgotten: whoever finds none from then on finds this. */
	if (atomic_load(&etc->state) >= SETTLED)
		atomic_store(&etc->state, LOOKING);
	if (atomic_load(&etc->state) == LOOKING && etc->patience.state == RCM_TIMER_IDLE)
		rcm_timer_start(etc->loop, &etc->patience, look->began + RCM_LOOK_WAIT_MS * RCM_NS_PER_MS,
				look_overdue);
	rcm_workers_post(etc->workers, &look->job);
	return 0;
}

static void look_take(struct rcm_etc *etc, struct look *look)
{
	etc->known = true;
	etc->pick = look->news.pick;
	etc->hosts_beyond_us = look->news.hosts_beyond_us;
	memcpy(etc->stamps, look->stamps, sizeof(etc->stamps));
	etc->ops->changed(etc->arg, &look->news);
	look->news.resolv = NULL;
	look->news.hosts = NULL;
}

/* What was in force stays, and all is read again at the next look. */
static void look_fail(struct rcm_etc *etc, int status)
{
	rcm_info("dns: the host's files can't be read: %s", strerror(-status));
	memset(etc->stamps, 0, sizeof(etc->stamps));
}

/* True: somebody may wait to see what changed while this look was under way. */
static bool look_again(struct rcm_etc *etc)
{
	if (atomic_load(&etc->state) == OVERDUE || !rcm_watch_can_tell(etc->watch) || !rcm_watch_has_news(etc->watch))
		return false;
	atomic_store(&etc->state, LOOKING);
	return !look_start(etc);
}

/* Settled no more before the watch can't tell any more: see rcm_etc_is_settled(). */
static void etc_rest(struct rcm_timer *timer)
{
	struct rcm_etc *etc = rcm_container(timer, struct rcm_etc, rest);
	uint64_t due = atomic_load_explicit(&etc->asked_at, memory_order_relaxed) + RCM_WATCH_IDLE_MS * RCM_NS_PER_MS;

	if (etc->loop->now < due) {
		rcm_timer_start(etc->loop, &etc->rest, due, etc_rest);
	} else if (atomic_load(&etc->state) == SETTLED) {
		atomic_store(&etc->state, RESTING);
		rcm_watch_rest(etc->watch);
	}
}

static void look_done(struct rcm_job *job, int status)
{
	struct look *look = look_of(job);
	struct rcm_etc *etc = look->etc;
	uint64_t began = look->began;

	if (!status)
		status = look->status;
	etc->look = NULL;
	if (status)
		look_fail(etc, status);
	else
		look_take(etc, look);
	look_free(job);
	if (!status && look_again(etc))
		return;
	rcm_timer_stop(etc->loop, &etc->patience);
	/* What could not be read is read again for the next who asks. */
	atomic_store(&etc->looked_at, status ? 0 : began);
	atomic_store(&etc->state, etc->known ? SETTLED : UNREAD);
	rcm_timer_start(etc->loop, &etc->rest, etc->loop->now + RCM_WATCH_IDLE_MS * RCM_NS_PER_MS, etc_rest);
	etc->ops->settled(etc->arg, etc->known ? 0 : status == -ENFILE ? -EMFILE : status);
}

bool rcm_etc_is_settled(struct rcm_etc *etc)
{
	/* In this order: see look_start(). */
	bool news = rcm_watch_has_news(etc->watch);
	enum etc_state state = atomic_load(&etc->state);
	uint64_t now = rcm_clock_now();

	atomic_store_explicit(&etc->asked_at, now, memory_order_relaxed);
	if (state == OVERDUE)
		return true;
	return state == SETTLED && !news && now - atomic_load(&etc->looked_at) < RCM_LOOK_MS * RCM_NS_PER_MS;
}

int rcm_etc_settle(struct rcm_etc *etc)
{
	int ret = 0;

	if (rcm_etc_is_settled(etc))
		return 1;
	if (!etc->look)
		ret = look_start(etc);
	return ret && etc->known ? 1 : ret;
}

int rcm_etc_open(struct rcm_loop *loop, const struct rcm_etc_files *files, const struct rcm_etc_ops *ops, void *arg,
		 struct rcm_etc **ret_etc)
{
	struct rcm_etc *etc = calloc(1, sizeof(*etc));
	int ret;

	if (!etc)
		return -ENOMEM;
	etc->loop = loop;
	etc->files = files;
	etc->ops = ops;
	etc->arg = arg;
	ret = rcm_watch_open(&etc->watch);
	if (!ret)
		ret = rcm_workers_open(loop, &etc_limits, &etc->workers);
	if (ret)
		rcm_etc_close(etc);
	else
		*ret_etc = etc;
	return ret;
}

void rcm_etc_close(struct rcm_etc *etc)
{
	if (!etc)
		return;
	rcm_timer_stop(etc->loop, &etc->patience);
	rcm_timer_stop(etc->loop, &etc->rest);
	rcm_workers_close(etc->workers);
	rcm_watch_put(etc->watch);
	free(etc);
}

/* The look under way is the thread's, which isn't here: its memory is left. */
void rcm_etc_abandon(struct rcm_etc *etc)
{
	if (!etc)
		return;
	rcm_timer_stop(etc->loop, &etc->patience);
	rcm_timer_stop(etc->loop, &etc->rest);
	rcm_workers_abandon(etc->workers);
	rcm_watch_put(etc->watch);
	free(etc);
}
