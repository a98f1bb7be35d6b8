/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads' calls on the same ids, while others take the events, and what holds whatever they do: a resolution
 * that was started has one end, one that was refused none; nothing comes of an id that is destroyed; results are handed
 * over once; and in the end nothing is left.
 */
#include <errno.h>
#include <infiniband/ib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake_dns.h"
#include "fake_ucma.h"
#include "model.h"
#include "resolve/engine.h"
#include "sa/sa.h"

enum { WORKERS = 3, TAKERS = 4, PLACES = 16, ROADS = 3, SECONDS_TO_END = 20, STATUS_STOP = 99 };

/* Of one id; outlives it. */
struct life {
	struct life *next;
	struct rdma_cm_id *id;
	uint32_t handle;
	atomic_bool dead;			/* rdma_destroy_id() has returned */
	atomic_uint started, ended, resolved, lists;
	atomic_uint written, read, sent, got;
};

/* Whoever destroys or makes its id has it alone. */
struct place {
	pthread_rwlock_t lock;
	struct life *life;
};

static struct place places[PLACES];
static struct rdma_event_channel *roads[ROADS];
static const unsigned taker_road[TAKERS] = { 0, 0, 1, 2 };
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;	/* for one at a time to be the kernel's last */
static struct life *lives;			/* all there were */
static const struct run *running;
static bool kernel;

/* ---- What others take ---- */

static void count_up(atomic_uint *count, atomic_uint *limit, const char *what)
{
	unsigned now = atomic_fetch_add(count, 1) + 1;

	MODEL_EXPECT(now <= atomic_load(limit), "%s: %u of %u", what, now, atomic_load(limit));
}

static void life_query(struct life *life, struct rdma_cm_id *id)
{
	struct rdma_addrinfo *list = NULL;

	if (rdma_query_addrinfo(id, &list)) {
		MODEL_EXPECT(errno == ENOENT, "query: errno %d", errno);
		return;
	}
	count_up(&life->lists, &life->resolved, "lists handed over");
	rdma_freeaddrinfo(list);
}

static void life_take(struct life *life, const struct rdma_cm_event *event)
{
	MODEL_EXPECT(!atomic_load(&life->dead), "%s of an id that is destroyed", rdma_event_str(event->event));
	switch (event->event) {
	case RDMA_CM_EVENT_ADDRINFO_RESOLVED:
		MODEL_EXPECT(!event->status && event->param.arg, "resolved with status %d", event->status);
		count_up(&life->ended, &life->started, "ends of resolutions");
		break;
	case RDMA_CM_EVENT_ADDRINFO_ERROR:
		MODEL_EXPECT(event->status < 0, "failed with status %d", event->status);
		count_up(&life->ended, &life->started, "ends of resolutions");
		break;
	case RDMA_CM_EVENT_USER:
		count_up(&life->read, &life->written, "user events");
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		count_up(&life->got, &life->sent, "events of the kernel's");
		break;
	default:
		model_fail("%s", rdma_event_str(event->event));
	}
}

static void *taker_run(void *arg)
{
	struct rdma_event_channel *road = roads[*(const unsigned *)arg];
	struct rdma_cm_event *event;
	bool stop = false;

	while (!stop) {
		MODEL_EXPECT(!rdma_get_cm_event(road, &event), "get: errno %d", errno);
		stop = event->event == RDMA_CM_EVENT_USER && event->status == STATUS_STOP;
		if (!stop) {
			/* The list is there as soon as the event is taken, and another thread may be quicker. */
			life_take(event->id->context, event);
			life_query(event->id->context, event->id);
		}
		MODEL_EXPECT(!rdma_ack_cm_event(event), "ack: errno %d", errno);
	}
	return NULL;
}

/* ---- Steps ---- */

static void place_make(struct place *place, struct dice *dice)
{
	struct life *life = calloc(1, sizeof(*life));
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_pkey = 0xffff };

	MODEL_EXPECT(life, "no memory");
	pthread_mutex_lock(&making);
	MODEL_EXPECT(!rdma_create_id(roads[dice_below(dice, ROADS)], &life->id, life, RDMA_PS_TCP), "create: errno %d", errno);
	life->handle = kernel ? rcm_fake_ucma_last_handle() : 0;
	life->next = lives;
	lives = life;
	pthread_mutex_unlock(&making);
	if (!kernel && dice_below(dice, 2)) {
		ib.sib_addr.sib_raw[0] = 0xfe;
		ib.sib_addr.sib_raw[1] = 0x80;
		ib.sib_addr.sib_raw[15] = 1;
		MODEL_EXPECT(!rdma_bind_addr(life->id, (struct sockaddr *)&ib), "bind: errno %d", errno);
	}
	place->life = life;
}

/* What was taken has been counted before its ack, which this waits for. */
static void place_destroy(struct place *place)
{
	struct life *life = place->life;
	unsigned open;

	MODEL_EXPECT(!rdma_destroy_id(life->id), "destroy: errno %d", errno);
	atomic_store(&life->dead, true);
	open = atomic_load(&life->started) - atomic_load(&life->ended);
	MODEL_EXPECT(open <= 1, "%u resolutions under way on one id", open);
	place->life = NULL;
}

static void step_alone(struct place *place, struct dice *dice)
{
	if (pthread_rwlock_trywrlock(&place->lock))
		return;
	if (place->life)
		place_destroy(place);
	else
		place_make(place, dice);
	pthread_rwlock_unlock(&place->lock);
}

static void step_resolve(struct life *life, struct dice *dice)
{
	static const struct {
		const char *node, *service;
		int flags;
	} asked[] = {
		{ "192.0.2.7", "1", 0 }, { "a3.known", "1", 0 }, { "e2.unknown", "1", 0 }, { "local.known", "1", 0 },
		{ "ttl60.a2.kept", "1", 0 }, { "ms1.a2.slow", "1", 0 }, { "never.silent", "1", 0 }, { "ms2.a1.slow", "http", 0 },
		{ NULL, "rec3", RAI_SA }, { NULL, "busy", RAI_SA }, { NULL, "never", RAI_SA }, { "a1.x", "1", 0x40 },
	};
	unsigned i = dice_below(dice, sizeof(asked) / sizeof(asked[0]));
	struct rdma_addrinfo hints = { .ai_flags = asked[i].flags };
	bool refused;

	/* Before the call: its end may come before it returns. */
	atomic_fetch_add(&life->started, 1);
	atomic_fetch_add(&life->resolved, 1);
	refused = rdma_resolve_addrinfo(life->id, asked[i].node, asked[i].service, &hints);
	if (!refused)
		return;
	MODEL_EXPECT(errno == EBUSY || errno == EINVAL, "resolve: errno %d", errno);
	atomic_fetch_sub(&life->started, 1);
	atomic_fetch_sub(&life->resolved, 1);
}

static void step_option(struct life *life, struct dice *dice)
{
	static const uint32_t deadlines[] = { 0, 1, 3, 60000 };
	uint32_t deadline = deadlines[dice_below(dice, 4)], fresh = dice_below(dice, 2);

	MODEL_EXPECT(!rdma_set_option(life->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &deadline, sizeof(deadline)) &&
		     !rdma_set_option(life->id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &fresh, sizeof(fresh)), "option");
}

static void step_write(struct life *life)
{
	atomic_fetch_add(&life->written, 1);
	MODEL_EXPECT(!rdma_write_cm_event(life->id, RDMA_CM_EVENT_USER, 0, 1), "write: errno %d", errno);
}

static void step_kernel(struct life *life)
{
	if (!kernel)
		return;
	atomic_fetch_add(&life->sent, 1);
	rcm_fake_ucma_event_of(life->handle, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
}

static void step_sync(void)
{
	struct rdma_addrinfo *list = NULL;
	struct rdma_cm_id *id;

	pthread_mutex_lock(&making);
	MODEL_EXPECT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "a synchronous id: errno %d", errno);
	pthread_mutex_unlock(&making);
	MODEL_EXPECT(!rdma_resolve_addrinfo(id, "ms1.a2.slow", "1", NULL), "synchronous: errno %d", errno);
	MODEL_EXPECT(!rdma_query_addrinfo(id, &list) && list, "synchronous: no results");
	rdma_freeaddrinfo(list);
	MODEL_EXPECT(!rdma_destroy_id(id), "destroy of a synchronous id: errno %d", errno);
}

static void step_together(struct life *life, struct dice *dice)
{
	switch (dice_below(dice, 20)) {
	case 0 ... 7: step_resolve(life, dice); break;
	case 8 ... 10:
		MODEL_EXPECT(!rai_cancel(life->id) || errno == ENOENT, "cancel: errno %d", errno);
		break;
	case 11: step_option(life, dice); break;
	case 12 ... 13:
		MODEL_EXPECT(!rdma_migrate_id(life->id, roads[dice_below(dice, ROADS)]), "migrate: errno %d", errno);
		break;
	case 14 ... 16: step_write(life); break;
	case 17: step_kernel(life); break;
	case 18: life_query(life, life->id); break;
	default: step_sync(); break;
	}
}

static void *worker_run(void *arg)
{
	unsigned first = *(const unsigned *)arg;

	for (unsigned step = first; step < running->steps; step += WORKERS) {
		struct dice dice = dice_of(running->seed, step);
		struct place *place = &places[dice_below(&dice, PLACES)];

		if (running->out && running->out[step])
			continue;
		if (!dice_below(&dice, 12)) {
			step_alone(place, &dice);
			continue;
		}
		pthread_rwlock_rdlock(&place->lock);
		if (place->life)
			step_together(place->life, &dice);
		pthread_rwlock_unlock(&place->lock);
	}
	return NULL;
}

/* ---- A run ---- */

static void begin(void)
{
	static const struct rcm_backends backends = { .dns = &rcm_fake_dns, .sa = &rcm_sa_umad, .sa_ports = rcm_sa_ports };

	kernel = running->seed % 2;
	rcm_engine_use(&backends);
	rcm_fake_ucma_use();
	if (kernel)
		rcm_fake_ucma_lenient(true);
	else
		rcm_fake_ucma_open_result(-ENODEV);
	for (unsigned i = 0; i < ROADS; i++) {
		roads[i] = rdma_create_event_channel();
		MODEL_EXPECT(roads[i], "no channel: errno %d", errno);
	}
	for (unsigned i = 0; i < PLACES; i++)
		pthread_rwlock_init(&places[i].lock, NULL);
}

static bool is_over(struct life *life)
{
	return atomic_load(&life->started) == atomic_load(&life->ended) &&
	       atomic_load(&life->written) == atomic_load(&life->read) && atomic_load(&life->sent) == atomic_load(&life->got);
}

/* What nobody cancels may never come. */
static void await_ends(void)
{
	time_t until = time(NULL) + SECONDS_TO_END;

	for (struct place *place = places; place < places + PLACES; place++) {
		struct life *life = place->life;

		if (!life)
			continue;
		rai_cancel(life->id);
		while (!is_over(life)) {
			MODEL_EXPECT(time(NULL) < until, "%u resolutions of %u, %u user events of %u, %u of %u of the kernel's",
				     atomic_load(&life->ended), atomic_load(&life->started), atomic_load(&life->read),
				     atomic_load(&life->written), atomic_load(&life->got), atomic_load(&life->sent));
			sched_yield();
		}
	}
}

static void stop_takers(pthread_t takers[TAKERS])
{
	struct rdma_cm_id *id;

	for (unsigned i = 0; i < ROADS; i++) {
		MODEL_EXPECT(!rdma_create_id(roads[i], &id, NULL, RDMA_PS_TCP), "create: errno %d", errno);
		for (unsigned j = 0; j < TAKERS; j++)
			if (taker_road[j] == i)
				MODEL_EXPECT(!rdma_write_cm_event(id, RDMA_CM_EVENT_USER, STATUS_STOP, 0), "stop");
		for (unsigned j = 0; j < TAKERS; j++)
			if (taker_road[j] == i)
				pthread_join(takers[j], NULL);
		MODEL_EXPECT(!rdma_destroy_id(id), "destroy: errno %d", errno);
	}
}

static void end(void)
{
	struct rai_stats stats;
	struct life *next;

	for (unsigned i = 0; i < PLACES; i++) {
		if (places[i].life)
			place_destroy(&places[i]);
		pthread_rwlock_destroy(&places[i].lock);
	}
	for (unsigned i = 0; i < ROADS; i++)
		rdma_destroy_event_channel(roads[i]);
	for (; lives; lives = next) {
		next = lives->next;
		free(lives);
	}
	rai_get_stats(&stats, sizeof(stats));
	MODEL_EXPECT(!kernel || !rcm_fake_ucma_ids(), "%u ids are left in the kernel", rcm_fake_ucma_ids());
	MODEL_EXPECT(stats.started >= stats.resolved + stats.failed + stats.cancelled, "%ju started, %ju ended",
		     (uintmax_t)stats.started, (uintmax_t)(stats.resolved + stats.failed + stats.cancelled));
}

void threads_run(const struct run *run)
{
	unsigned first[WORKERS];
	pthread_t workers[WORKERS], takers[TAKERS];

	running = run;
	progress->step = run->steps - 1;
	begin();
	for (unsigned i = 0; i < TAKERS; i++)
		MODEL_EXPECT(!pthread_create(&takers[i], NULL, taker_run, (void *)(uintptr_t)&taker_road[i]), "no thread");
	for (unsigned i = 0; i < WORKERS; i++) {
		first[i] = i;
		MODEL_EXPECT(!pthread_create(&workers[i], NULL, worker_run, &first[i]), "no thread");
	}
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	await_ends();
	stop_takers(takers);
	end();
}
