/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread's calls, and exactly what has to follow them. */
#include "exact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fake_dns.h"
#include "fake_ucma.h"
#include "resolve/engine.h"
#include "sa/sa.h"

struct exact exact;

void exact_tell(const char *format, ...)
{
	va_list args;

	if (!exact.verbose)
		return;
	printf("%u: ", progress->step);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* ---- Queues ---- */

struct slot *exact_slot(struct dice *dice)
{
	unsigned at = dice_below(dice, SLOTS);

	for (unsigned i = 0; i < SLOTS; i++)
		if (exact.slots[(at + i) % SLOTS].id)
			return &exact.slots[(at + i) % SLOTS];
	return NULL;
}

void exact_list(struct slot *slot, bool user)
{
	struct line *line = &exact.lines[slot->channel];

	MODEL_EXPECT(line->length < QUEUE_MAX, "the model's queue is full");
	line->queue[line->length++] = (struct item){ slot, user };
}

static void line_remove(struct line *line, unsigned at)
{
	line->length--;
	memmove(&line->queue[at], &line->queue[at + 1], (line->length - at) * sizeof(line->queue[0]));
}

void exact_unlist(struct slot *slot)
{
	struct line *line = &exact.lines[slot->channel];

	for (unsigned i = line->length; i--;)
		if (line->queue[i].slot == slot)
			line_remove(line, i);
}

void exact_move(struct slot *slot, unsigned to)
{
	struct line *from = &exact.lines[slot->channel];

	slot->channel = to;
	for (unsigned i = 0; i < from->length;) {
		struct item item = from->queue[i];

		if (item.slot != slot) {
			i++;
			continue;
		}
		line_remove(from, i);
		exact_list(slot, item.user);
	}
}

/* ---- Channels ---- */

void exact_watch(unsigned channel)
{
	struct line *line = &exact.lines[channel];
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	line->edge = epoll_create1(EPOLL_CLOEXEC);
	MODEL_EXPECT(line->edge >= 0 && !epoll_ctl(line->edge, EPOLL_CTL_ADD, line->pub->fd, &event),
		     "channel %u can't be watched: errno %d", channel, errno);
}

void exact_open_channel(unsigned channel)
{
	struct line *line = &exact.lines[channel];

	line->pub = rdma_create_event_channel();
	MODEL_EXPECT(line->pub, "no channel: errno %d", errno);
	MODEL_EXPECT(!fcntl(line->pub->fd, F_SETFL, O_NONBLOCK), "fcntl: errno %d", errno);
	line->length = 0;
	line->woken = false;
	exact_watch(channel);
}

void exact_close_channel(unsigned channel)
{
	close(exact.lines[channel].edge);
	rdma_destroy_event_channel(exact.lines[channel].pub);
}

enum due { DUE_NO, DUE_MAYBE, DUE_YES };

static enum due line_due(unsigned channel)
{
	enum due due = exact.lines[channel].length ? DUE_YES : DUE_NO;

	for (const struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++) {
		if (!slot->id || slot->channel != channel)
			continue;
		if (slot->when == WHEN_DUE || slot->sent > slot->got)
			due = DUE_YES;
		else if ((slot->when == WHEN_SOON || slot->when == WHEN_LATER) && due == DUE_NO)
			due = DUE_MAYBE;
	}
	return due;
}

void exact_check(void)
{
	struct pollfd polled[CHANNELS];
	struct epoll_event event;

	for (unsigned i = 0; i < CHANNELS; i++)
		polled[i] = (struct pollfd){ .fd = exact.lines[i].pub->fd, .events = POLLIN };
	MODEL_EXPECT(poll(polled, CHANNELS, 0) >= 0, "poll: errno %d", errno);
	for (unsigned i = 0; i < CHANNELS; i++) {
		struct line *line = &exact.lines[i];
		enum due due = line_due(i);

		MODEL_EXPECT(polled[i].revents == 0 || polled[i].revents == POLLIN, "channel %u polls as %#x", i,
			     (unsigned)polled[i].revents);
		MODEL_EXPECT(due != DUE_YES || polled[i].revents, "channel %u isn't readable, and an event is due", i);
		MODEL_EXPECT(due != DUE_NO || !polled[i].revents, "channel %u is readable, and no event is due", i);
		line->woken |= epoll_wait(line->edge, &event, 1, 0) > 0;
		MODEL_EXPECT(due != DUE_YES || line->woken, "channel %u woke nobody who looks at edges", i);
		line->woken = line->woken && due != DUE_NO;
	}
}

/* ---- Events ---- */

static void take_lookup(struct slot *slot, const struct rdma_cm_event *event)
{
	bool found = event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED;
	unsigned outcome = found ? OUTCOME_FOUND : event->status == -ECANCELED ? OUTCOME_CANCELLED :
			   event->status == -ETIMEDOUT ? OUTCOME_TIMEOUT : OUTCOME_ERROR;

	MODEL_EXPECT(slot->when > WHEN_HELD, "id %u: %s, status %d, and %s", slot->number, rdma_event_str(event->event),
		     event->status, slot->when ? "nothing should have come yet" : "nothing was asked");
	MODEL_EXPECT(slot->outcomes & outcome, "id %u: %s, status %d, and of outcomes only %#x could be", slot->number,
		     rdma_event_str(event->event), event->status, slot->outcomes);
	MODEL_EXPECT(outcome != OUTCOME_ERROR || event->status == slot->error, "id %u: status %d instead of %d",
		     slot->number, event->status, slot->error);
	MODEL_EXPECT(!found || (!event->status && event->param.arg == slot->count), "id %u: status %d, %ju results, not %u",
		     slot->number, event->status, (uintmax_t)event->param.arg, slot->count);
	slot->when = WHEN_NONE;
	slot->found = found ? slot->count : 0;
}

static void take_user(struct slot *slot, const struct rdma_cm_event *event)
{
	MODEL_EXPECT(slot->read < slot->written, "id %u: a user event that nobody wrote", slot->number);
	MODEL_EXPECT(event->param.arg == slot->read && event->status == (int)slot->read % 7,
		     "id %u: user event %ju instead of %ju", slot->number, (uintmax_t)event->param.arg, (uintmax_t)slot->read);
	slot->read++;
}

static void take_kernel(struct slot *slot, const struct rdma_cm_event *event)
{
	MODEL_EXPECT(slot->got < slot->sent && event->status == (int)slot->got,
		     "id %u: event %d of the kernel's, and %u of %u have come", slot->number, event->status, slot->got,
		     slot->sent);
	slot->got++;
}

/* Own events come in the order in which they were queued, where that is known. */
static void take_in_order(unsigned channel, const struct slot *slot, bool user)
{
	struct line *line = &exact.lines[channel];

	if (!user && slot->when != WHEN_LISTED)
		return;
	MODEL_EXPECT(line->length, "channel %u: an event of id %u, and none is queued", channel, slot->number);
	MODEL_EXPECT(line->queue[0].slot == slot && line->queue[0].user == user,
		     "channel %u: %s of id %u before %s of id %u", channel, user ? "a user event" : "the outcome", slot->number,
		     line->queue[0].user ? "a user event" : "the outcome", line->queue[0].slot->number);
	line_remove(line, 0);
}

static struct slot *take_slot(unsigned channel, const struct rdma_cm_event *event)
{
	for (struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++) {
		if (!slot->id || slot->id != event->id)
			continue;
		MODEL_EXPECT(event->id->context == slot && slot->channel == channel && !event->listen_id,
			     "id %u: an event on channel %u, and it is on %u", slot->number, channel, slot->channel);
		return slot;
	}
	model_fail("channel %u: %s of an id that isn't there", channel, rdma_event_str(event->event));
}

bool exact_take(unsigned channel, bool keep)
{
	enum due due = line_due(channel);
	struct rdma_cm_event *event = NULL;
	struct slot *slot;

	errno = 0;
	if (rdma_get_cm_event(exact.lines[channel].pub, &event)) {
		MODEL_EXPECT(errno == EAGAIN && due != DUE_YES, "channel %u: no event, errno %d", channel, errno);
		exact_tell("channel %u: none", channel);
		return false;
	}
	slot = take_slot(channel, event);
	exact_tell("channel %u: %s of id %u, status %d, arg %ju", channel, rdma_event_str(event->event), slot->number,
		   event->status, (uintmax_t)event->param.arg);
	MODEL_EXPECT(due != DUE_NO, "channel %u: %s, and nothing is due", channel, rdma_event_str(event->event));
	if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		take_kernel(slot, event);
	} else {
		take_in_order(channel, slot, event->event == RDMA_CM_EVENT_USER);
		(event->event == RDMA_CM_EVENT_USER ? take_user : take_lookup)(slot, event);
	}
	if (exact.unacked_count == UNACKED_MAX)
		exact_ack(0);
	exact.unacked[exact.unacked_count++] = (struct unacked){ event, *event, slot };
	if (!keep)
		exact_ack(exact.unacked_count - 1);
	return true;
}

void exact_ack(unsigned which)
{
	struct unacked *unacked = &exact.unacked[which];

	MODEL_EXPECT(!memcmp(unacked->event, &unacked->copy, sizeof(unacked->copy)), "an event changed before its ack");
	MODEL_EXPECT(!rdma_ack_cm_event(unacked->event), "ack: errno %d", errno);
	exact.unacked_count--;
	memmove(unacked, unacked + 1, (exact.unacked_count - which) * sizeof(*unacked));
}

void exact_ack_all_of(const struct slot *slot)
{
	for (unsigned i = exact.unacked_count; i--;)
		if (exact.unacked[i].slot == slot)
			exact_ack(i);
}

/* ---- The engine ---- */

void exact_fence(void)
{
	struct rdma_addrinfo *list = NULL;
	char name[40];
	int ret;

	snprintf(name, sizeof(name), "a2.fence%u", exact.fences++);
	ret = rdma_getaddrinfo(name, "7471", NULL, &list);
	MODEL_EXPECT(!ret && list && list->ai_next && !list->ai_next->ai_next, "%s: %d", name, ret);
	rdma_freeaddrinfo(list);
	for (struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++)
		if (slot->id && slot->when == WHEN_SOON)
			slot->when = WHEN_DUE;
}

/* ---- A run ---- */

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void begin(const struct run *run)
{
	static const struct rcm_backends backends = { .dns = &rcm_fake_dns, .sa = &rcm_sa_umad, .sa_ports = rcm_sa_ports };

	exact.verbose = run->verbose;
	exact.kernel = run->seed % 2;
	rcm_engine_use(&backends);
	rcm_fake_ucma_use();
	if (exact.kernel)
		rcm_fake_ucma_lenient(true);
	else
		rcm_fake_ucma_open_result(-ENODEV);
	for (unsigned i = 0; i < SLOTS; i++)
		exact.slots[i].number = i;
	exact_fence();
}

static bool is_left(void)
{
	for (unsigned i = 0; i < CHANNELS; i++)
		if (line_due(i) != DUE_NO)
			return true;
	return false;
}

/* Takes all that is there, and waits for what is still to come. */
static void drain(void)
{
	struct pollfd polled[CHANNELS];

	for (struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++) {
		if (!slot->id || (slot->when != WHEN_HELD && slot->when != WHEN_LATER))
			continue;
		MODEL_EXPECT(!rai_cancel(slot->id), "cancel of id %u: errno %d", slot->number, errno);
		slot->outcomes = slot->when == WHEN_HELD ? OUTCOME_CANCELLED : slot->outcomes | OUTCOME_CANCELLED;
		slot->when = WHEN_SOON;
	}
	for (unsigned i = 0; i < CHANNELS; i++)
		polled[i] = (struct pollfd){ .fd = exact.lines[i].pub->fd, .events = POLLIN };
	while (is_left()) {
		MODEL_EXPECT(poll(polled, CHANNELS, 10000) > 0, "an event that is to come doesn't");
		for (unsigned i = 0; i < CHANNELS; i++)
			while (exact_take(i, false))
				;
	}
	exact_check();
}

static void end(unsigned fds)
{
	struct rai_stats stats;

	drain();
	while (exact.unacked_count)
		exact_ack(0);
	for (struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++) {
		MODEL_EXPECT(!slot->id || slot->written == slot->read, "id %u: %ju user events of %ju", slot->number,
			     (uintmax_t)slot->read, (uintmax_t)slot->written);
		MODEL_EXPECT(!slot->id || !rdma_destroy_id(slot->id), "destroy of id %u: errno %d", slot->number, errno);
		slot->id = NULL;
	}
	for (unsigned i = 0; i < CHANNELS; i++)
		exact_close_channel(i);
	exact_fence();
	MODEL_EXPECT(!rcm_fake_dns_under_way() && !model_sa_under_way(), "%u lookups and %u queries are left",
		     rcm_fake_dns_under_way(), model_sa_under_way());
	rai_get_stats(&stats, sizeof(stats));
	MODEL_EXPECT(!stats.outstanding, "%ju resolutions are outstanding", (uintmax_t)stats.outstanding);
	MODEL_EXPECT(exact.forked || stats.started == stats.resolved + stats.failed + stats.cancelled,
		     "%ju started, %ju resolved, %ju failed, %ju cancelled", (uintmax_t)stats.started,
		     (uintmax_t)stats.resolved, (uintmax_t)stats.failed, (uintmax_t)stats.cancelled);
	MODEL_EXPECT(!exact.kernel || !rcm_fake_ucma_ids(), "%u ids are left in the kernel", rcm_fake_ucma_ids());
	MODEL_EXPECT(exact.forked || descriptors() == fds, "%u descriptors instead of %u", descriptors(), fds);
}

void exact_run(const struct run *run)
{
	unsigned fds;

	begin(run);
	fds = descriptors();
	for (unsigned i = 0; i < CHANNELS; i++)
		exact_open_channel(i);
	for (unsigned step = 0; step < run->steps; step++) {
		struct dice dice = dice_of(run->seed, step);

		if (run->out && run->out[step])
			continue;
		progress->step = step;
		exact_step(&dice);
		exact_check();
	}
	end(fds);
}
