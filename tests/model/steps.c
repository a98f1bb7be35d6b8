/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps: a call each, what it has to return, and what is to follow it. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact.h"
#include "fake_dns.h"
#include "fake_ucma.h"

/* ---- Ids ---- */

static void step_create(struct dice *dice)
{
	struct slot *slot = &exact.slots[dice_below(dice, SLOTS)];
	unsigned number = slot->number, channel = dice_below(dice, CHANNELS);

	if (slot->id)
		return;
	*slot = (struct slot){ .number = number, .channel = channel, .hold = -1, .deadline_ms = UINT32_MAX };
	MODEL_EXPECT(!rdma_create_id(exact.lines[channel].pub, &slot->id, slot, RDMA_PS_TCP), "create: errno %d", errno);
	slot->handle = exact.kernel ? rcm_fake_ucma_last_handle() : 0;
	exact_tell("id %u is made on channel %u", number, channel);
}

static void step_destroy(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);

	if (!slot)
		return;
	exact_tell("id %u is destroyed", slot->number);
	exact_ack_all_of(slot);
	MODEL_EXPECT(!rdma_destroy_id(slot->id), "destroy: errno %d", errno);
	exact_unlist(slot);
	slot->id = NULL;
}

static void step_migrate(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);
	unsigned to = dice_below(dice, CHANNELS);

	if (!slot || to == slot->channel)
		return;
	exact_tell("id %u moves from channel %u to %u", slot->number, slot->channel, to);
	exact_ack_all_of(slot);
	MODEL_EXPECT(!rdma_migrate_id(slot->id, exact.lines[to].pub), "migrate: errno %d", errno);
	exact_move(slot, to);
}

/* Without a kernel, to a port that has an SA. */
static void step_bind(struct dice *dice)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_pkey = 0xffff };
	struct slot *slot = exact_slot(dice);

	if (!slot || slot->bound || exact.kernel)
		return;
	exact_tell("id %u is bound", slot->number);
	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[1] = 0x80;
	ib.sib_addr.sib_raw[15] = (uint8_t)(1 + dice_below(dice, MODEL_GIDS));
	MODEL_EXPECT(!rdma_bind_addr(slot->id, (struct sockaddr *)&ib), "bind: errno %d", errno);
	slot->bound = true;
}

static void step_option(struct dice *dice)
{
	static const uint32_t deadlines[] = { 0, 1, 60000 };
	struct slot *slot = exact_slot(dice);
	uint32_t fresh = dice_below(dice, 2), deadline = deadlines[dice_below(dice, 3)], wrong = 2;

	if (!slot)
		return;
	exact_tell("id %u: fresh %u, deadline %u ms", slot->number, fresh, deadline);
	MODEL_EXPECT(!rdma_set_option(slot->id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &fresh, sizeof(fresh)), "fresh");
	MODEL_EXPECT(!rdma_set_option(slot->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &deadline, sizeof(deadline)),
		     "deadline");
	slot->deadline_ms = deadline;
	errno = 0;
	MODEL_EXPECT(rdma_set_option(slot->id, RDMA_OPTION_RAI, 99, &wrong, sizeof(wrong)) == -1 && errno, "option 99");
}

static void step_channel(struct dice *dice)
{
	unsigned channel = dice_below(dice, CHANNELS);

	for (unsigned i = 0; i < SLOTS; i++)
		if (exact.slots[i].id && exact.slots[i].channel == channel)
			return;
	while (exact.unacked_count)
		exact_ack(0);
	exact_tell("channel %u is made anew", channel);
	exact_close_channel(channel);
	exact_open_channel(channel);
}

/* ---- Resolutions ---- */

/* What there is to ask, and what comes of it. What is held is none that is kept once it is known. */
static const struct question {
	const char *node, *service;
	int flags;
	enum when when;
	unsigned outcomes, count;
	int error;
	int hold;
} questions[] = {
	{ "192.0.2.7", "7471", 0, WHEN_LISTED, OUTCOME_FOUND, 1, 0, -1 },
	{ "2001:db8::7", NULL, RAI_NUMERICHOST, WHEN_LISTED, OUTCOME_FOUND, 1, 0, -1 },
	{ "a3.known", "7471", 0, WHEN_SOON, OUTCOME_FOUND, 3, 0, -1 },
	{ "a1.known", "http", RAI_PASSIVE, WHEN_SOON, OUTCOME_FOUND, 1, 0, -1 },
	{ "ttl60.a2.kept", "1", 0, WHEN_SOON, OUTCOME_FOUND, 2, 0, -1 },
	{ "local.known", "1", 0, WHEN_SOON, OUTCOME_FOUND, 1, 0, -1 },
	{ "e2.unknown", "1", 0, WHEN_SOON, OUTCOME_ERROR, 0, -ENOENT, -1 },
	{ "e61.nodata", "1", 0, WHEN_SOON, OUTCOME_ERROR, 0, -ENODATA, -1 },
	{ "a1.known", "no-such-service", 0, WHEN_SOON, OUTCOME_ERROR, 0, -ENOENT, -1 },
	{ "192.0.2.7", "65536", 0, WHEN_SOON, OUTCOME_ERROR, 0, -ENOENT, -1 },
	{ "hold.a2.h0", "1", 0, WHEN_HELD, OUTCOME_FOUND, 2, 0, 0 },
	{ "hold.a1.h1", "1", 0, WHEN_HELD, OUTCOME_FOUND, 1, 0, 1 },
	{ "hold.e11.h2", "1", 0, WHEN_HELD, OUTCOME_ERROR, 0, -EAGAIN, 2 },
	{ "never.silent", "1", 0, WHEN_HELD, 0, 0, 0, -1 },
	{ NULL, "rec3", RAI_SA, WHEN_LATER, OUTCOME_FOUND, 3, 0, -1 },
	{ NULL, "rec1", RAI_SA | RAI_NOROUTE, WHEN_LATER, OUTCOME_FOUND, 1, 0, -1 },
	{ NULL, "none", RAI_SA, WHEN_LATER, OUTCOME_ERROR, 0, -ENOENT, -1 },
	{ NULL, "busy", RAI_SA, WHEN_LATER, OUTCOME_ERROR, 0, -EBUSY, -1 },
	{ NULL, "never", RAI_SA, WHEN_LATER, OUTCOME_TIMEOUT, 0, 0, -1 },
};

static const char *const held[HOLDS] = { "hold.a2.h0", "hold.a1.h1", "hold.e11.h2" };

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

static int resolve_call(struct slot *slot, const struct question *q)
{
	struct rdma_addrinfo hints = { .ai_flags = q->flags };

	errno = 0;
	return rdma_resolve_addrinfo(slot->id, q->node, q->service, q->flags ? &hints : NULL);
}

static void resolve_started(struct slot *slot, const struct question *q)
{
	slot->when = q->when;
	slot->outcomes = q->outcomes;
	slot->count = q->count;
	slot->error = q->error;
	slot->hold = q->hold;
	slot->found = 0;
	slot->service = q->service;
	if (q->when == WHEN_LISTED)
		exact_list(slot, false);
	else if (slot->deadline_ms && slot->deadline_ms < 1000) {
		slot->outcomes |= OUTCOME_TIMEOUT;
		slot->when = WHEN_LATER;
	}
}

static void step_resolve(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);
	const struct question *q = &questions[dice_below(dice, QUESTIONS)];
	int ret;

	if (!slot)
		return;
	ret = resolve_call(slot, q);
	exact_tell("id %u asks for %s, %s: %d", slot->number, q->node, q->service, ret);
	if (q->flags & RAI_SA && !slot->bound) {
		MODEL_EXPECT(ret == -1 && errno == EINVAL, "RAI_SA of an unbound id: %d, errno %d", ret, errno);
	} else if (slot->when != WHEN_NONE) {
		MODEL_EXPECT(ret == -1 && errno == EBUSY, "a second resolution: %d, errno %d", ret, errno);
	} else {
		MODEL_EXPECT(!ret, "resolve: errno %d", errno);
		resolve_started(slot, q);
	}
}

/* Refused at once, whatever else the id is doing. */
static void step_refused(struct dice *dice)
{
	static const struct {
		struct question q;
		int error;
	} refused[] = {
		{ { "", "1", .flags = 0 }, EINVAL },
		{ { "a1.known", "", .flags = 0 }, EINVAL },
		{ { NULL, NULL, .flags = 0 }, EINVAL },
		{ { "a1.known", "1", .flags = RAI_NUMERICHOST }, EINVAL },
		{ { "a1.known", "1", .flags = 0x40 }, EINVAL },
		{ { "a1.known", "x", .flags = RAI_SA }, ENOTSUP },
		{ { NULL, "x", .flags = RAI_SA | RAI_DNS }, ENOTSUP },
		{ { NULL, NULL, .flags = RAI_SA }, EINVAL },
	};
	struct slot *slot = exact_slot(dice);
	unsigned i = dice_below(dice, sizeof(refused) / sizeof(refused[0]));
	int ret;

	if (!slot)
		return;
	ret = resolve_call(slot, &refused[i].q);
	exact_tell("id %u asks for what is refused, %u: %d", slot->number, i, ret);
	MODEL_EXPECT(ret == -1 && errno == refused[i].error, "refusal %u: %d, errno %d", i, ret, errno);
}

static void step_cancel(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);
	int ret;

	if (!slot)
		return;
	errno = 0;
	ret = rai_cancel(slot->id);
	exact_tell("id %u is cancelled: %d", slot->number, ret);
	if (slot->when == WHEN_NONE) {
		MODEL_EXPECT(ret == -1 && errno == ENOENT, "cancel of nothing: %d, errno %d", ret, errno);
		return;
	}
	MODEL_EXPECT(!ret, "cancel: errno %d", errno);
	/* One that has come stays what it is. */
	if (slot->when >= WHEN_DUE)
		return;
	slot->outcomes = slot->when == WHEN_HELD ? OUTCOME_CANCELLED : slot->outcomes | OUTCOME_CANCELLED;
	slot->when = WHEN_SOON;
}

/* An address, which has the service's port; one of the SA has a service id instead. */
static void result_expect(const struct rdma_addrinfo *ai, const char *service)
{
	const struct sockaddr *sa = ai->ai_flags & RAI_PASSIVE ? ai->ai_src_addr : ai->ai_dst_addr;
	int wanted = !service ? 0 : !strcmp(service, "http") ? 80 : atoi(service);
	struct sockaddr_in6 in6 = { 0 };

	MODEL_EXPECT(sa, "a result without an address");
	if (ai->ai_flags & RAI_SA) {
		MODEL_EXPECT(sa->sa_family == AF_IB, "a service record of family %d", sa->sa_family);
		return;
	}
	/* The port lies where it lies in a sockaddr_in. */
	memcpy(&in6, sa, sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(in6));
	MODEL_EXPECT(ntohs(in6.sin6_port) == wanted, "port %u instead of %d", ntohs(in6.sin6_port), wanted);
}

static void step_query(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);
	struct rdma_addrinfo *list = NULL;
	unsigned count = 0;
	int ret;

	if (!slot)
		return;
	errno = 0;
	ret = rdma_query_addrinfo(slot->id, &list);
	exact_tell("id %u is queried: %d", slot->number, ret);
	if (!slot->found) {
		MODEL_EXPECT(ret == -1 && errno == ENOENT, "a query for nothing: %d, errno %d", ret, errno);
		return;
	}
	MODEL_EXPECT(!ret, "query: errno %d", errno);
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next) {
		result_expect(ai, slot->service);
		count++;
	}
	MODEL_EXPECT(count == slot->found, "%u results instead of %u", count, slot->found);
	rdma_freeaddrinfo(list);
	slot->found = 0;
}

/* What waits for a name gets it. */
static void step_release(struct dice *dice)
{
	unsigned hold = dice_below(dice, HOLDS);

	exact_tell("%s is answered", held[hold]);
	exact_fence();
	rcm_fake_dns_release_all(held[hold]);
	exact_fence();
	for (struct slot *slot = exact.slots; slot < exact.slots + SLOTS; slot++)
		if (slot->id && slot->hold == (int)hold && (slot->when == WHEN_HELD || slot->when == WHEN_LATER))
			slot->when = WHEN_DUE;
}

static void step_fence(struct dice *dice)
{
	(void)dice;
	exact_tell("all that comes soon has come");
	exact_fence();
}

/* ---- Events ---- */

static void step_write(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);

	if (!slot)
		return;
	exact_tell("id %u gets user event %ju", slot->number, (uintmax_t)slot->written);
	MODEL_EXPECT(!rdma_write_cm_event(slot->id, RDMA_CM_EVENT_USER, (int)slot->written % 7, slot->written),
		     "write: errno %d", errno);
	slot->written++;
	exact_list(slot, true);
	errno = 0;
	MODEL_EXPECT(rdma_write_cm_event(slot->id, RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0, 0) == -1 && errno == EINVAL,
		     "another event could be written");
}

static void step_kernel(struct dice *dice)
{
	struct slot *slot = exact_slot(dice);

	if (!slot || !exact.kernel)
		return;
	exact_tell("id %u gets event %u of the kernel's", slot->number, slot->sent);
	rcm_fake_ucma_event_of(slot->handle, RDMA_CM_EVENT_TIMEWAIT_EXIT, (int)slot->sent);
	slot->sent++;
}

static void step_take(struct dice *dice)
{
	unsigned channel = dice_below(dice, CHANNELS), max = 1 + dice_below(dice, 8);
	bool keep = !dice_below(dice, 4);

	while (max-- && exact_take(channel, keep))
		;
}

static void step_ack(struct dice *dice)
{
	if (!exact.unacked_count)
		return;
	exact_tell("an ack");
	exact_ack(dice_below(dice, exact.unacked_count));
}

/* ---- Calls that wait ---- */

static void sync_expect(struct rdma_cm_id *id, const struct question *q, int ret)
{
	struct rdma_addrinfo *list = NULL;

	if (q->outcomes == OUTCOME_FOUND) {
		MODEL_EXPECT(!ret, "%s, synchronous: errno %d", q->node, errno);
		MODEL_EXPECT(id->event && id->event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED &&
			     id->event->param.arg == q->count, "%s, synchronous: another event", q->node);
		MODEL_EXPECT(!rdma_query_addrinfo(id, &list) && list, "%s, synchronous: no results", q->node);
		rdma_freeaddrinfo(list);
	} else {
		MODEL_EXPECT(ret == -1 && errno == -q->error, "%s, synchronous: %d, errno %d", q->node, ret, errno);
	}
	MODEL_EXPECT(rdma_query_addrinfo(id, &list) == -1 && errno == ENOENT, "%s, synchronous: results twice", q->node);
}

static void step_sync(struct dice *dice)
{
	const struct question *q;
	struct rdma_cm_id *id;
	int ret;

	MODEL_EXPECT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "a synchronous id: errno %d", errno);
	for (unsigned times = 1 + dice_below(dice, 3); times; times--) {
		q = &questions[dice_below(dice, QUESTIONS)];
		if (q->flags & RAI_SA || q->when == WHEN_HELD)
			continue;
		exact_tell("a synchronous id asks for %s, %s", q->node, q->service);
		errno = 0;
		ret = rdma_resolve_addrinfo(id, q->node, q->service, NULL);
		sync_expect(id, q, ret);
	}
	MODEL_EXPECT(!rdma_destroy_id(id), "destroy of a synchronous id: errno %d", errno);
}

/* ---- fork ---- */

/* The parent's part is to wait: the sequence goes on in the child. */
static void parent_wait(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status && !progress->failed)
		model_fail("the child of a fork: %s %d", WIFSIGNALED(status) ? "signal" : "exit status",
			   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	_exit(status ? 3 : 0);
}

/* What was under way starts again when its channel is used. */
static void step_fork(struct dice *dice)
{
	pid_t child;

	if (dice_below(dice, 20))
		return;
	exact_tell("a fork");
	child = fork();
	MODEL_EXPECT(child >= 0, "fork: errno %d", errno);
	if (child)
		parent_wait(child);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	exact.forked = true;
	for (unsigned i = 0; i < CHANNELS; i++) {
		exact_take(i, false);
		close(exact.lines[i].edge);
		exact_watch(i);
		exact.lines[i].woken = true;
	}
	exact_fence();
}

/* ---- All ---- */

static const struct kind {
	void (*step)(struct dice *dice);
	unsigned weight;
} kinds[] = {
	{ step_create, 8 }, { step_destroy, 4 }, { step_migrate, 5 }, { step_bind, 3 }, { step_option, 3 },
	{ step_channel, 1 }, { step_resolve, 25 }, { step_refused, 2 }, { step_cancel, 7 }, { step_query, 6 },
	{ step_release, 3 }, { step_fence, 3 }, { step_write, 7 }, { step_kernel, 5 }, { step_take, 20 },
	{ step_ack, 4 }, { step_sync, 2 }, { step_fork, 1 },
};

void exact_step(struct dice *dice)
{
	unsigned all = 0, at;

	for (const struct kind *kind = kinds; kind < kinds + sizeof(kinds) / sizeof(kinds[0]); kind++)
		all += kind->weight;
	at = dice_below(dice, all);
	for (const struct kind *kind = kinds; kind < kinds + sizeof(kinds) / sizeof(kinds[0]); kind++) {
		if (at < kind->weight) {
			kind->step(dice);
			return;
		}
		at -= kind->weight;
	}
}
