/* SPDX-License-Identifier: BSD-2-Clause */
/* A scripted SA client. */
#include "fake_sa.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/container.h"
#include "base/limits.h"
#include "loop/timer.h"

enum { STEPS_MAX = 128 };

struct rcm_sa {
	struct rcm_loop *loop;
};

struct rcm_sa_query {
	struct rcm_sa *sa;
	struct rcm_timer timer;
	rcm_sa_done_fn *done;
	void *arg;
	struct rcm_fake_sa_step step;
};

/* Between the test and the engine's thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const struct rcm_fake_sa_step *script;
static bool used[STEPS_MAX];
static unsigned steps, asked, unexpected, cancelled, under_way;
static uint64_t last_deadline;
static struct rcm_sa_port local[8];
static unsigned locals, looks, client_looks;

struct rcm_gid rcm_fake_sa_gid(uint8_t number)
{
	return (struct rcm_gid){ .raw = { 0xfe, 0x80, [15] = number } };
}

static void give_up(void)
{
	pthread_mutex_lock(&lock);
	under_way--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void query_free(struct rcm_sa_query *query)
{
	rcm_timer_stop(query->sa->loop, &query->timer);
	free(query);
	give_up();
}

static void answer(struct rcm_timer *timer)
{
	struct rcm_sa_query *query = rcm_container(timer, struct rcm_sa_query, timer);
	struct rcm_fake_sa_step step = query->step;
	rcm_sa_done_fn *done = query->done;
	void *arg = query->arg;
	uint8_t path[1][64] = {
		{ [43] = step.slid, [50] = (uint8_t)(step.path_pkey >> 8), [51] = (uint8_t)step.path_pkey },
	};
	struct rcm_sa_answer a = {
		.status = step.status, .mad_status = step.mad_status, .late = step.late,
		.too_large = step.too_large, .text = step.text,
		.count = step.path ? !!step.slid : step.count, .total = step.total,
		.services = step.many ? step.many : step.services, .paths = path,
	};

	if (step.paths) {
		a.count = a.total = step.count;
		a.paths = step.paths;
	}

	query_free(query);
	done(arg, &a);
}

static bool fits(const struct rcm_fake_sa_step *step, const struct rcm_fake_sa_step *want)
{
	if (step->path != want->path || step->port != want->port || step->remove != want->remove ||
	    step->listing != want->listing || step->loose != want->loose)
		return false;
	if (step->path)
		return step->to_all == want->to_all && (step->to_all || step->dgid == want->dgid) &&
		       step->pkey == want->pkey && (!step->id || step->id == want->id) &&
		       step->traffic_class == want->traffic_class;
	if (step->gid != want->gid || step->pkey != want->pkey)
		return false;
	return step->name ? want->name && !strcmp(step->name, want->name) : !want->name && step->id == want->id;
}

static const struct rcm_fake_sa_step *take(const struct rcm_fake_sa_step *want)
{
	const struct rcm_fake_sa_step *step = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; !step && i < steps; i++) {
		if (used[i] || !fits(&script[i], want))
			continue;
		used[i] = true;
		step = &script[i];
	}
	asked++;
	unexpected += !step;
	under_way += step && !step->start;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return step;
}

static uint64_t time_of(const struct rcm_fake_sa_step *step, uint64_t now)
{
	if (step->ms == RCM_FAKE_SA_AT_DEADLINE)
		return last_deadline;
	return step->ms ? now + step->ms * RCM_NS_PER_MS : 0;
}

static int ask(struct rcm_sa *sa, const struct rcm_fake_sa_step *want, rcm_sa_done_fn *done, void *arg,
	       struct rcm_sa_query **ret_query)
{
	const struct rcm_fake_sa_step *step = take(want);
	struct rcm_sa_query *query;

	if (!step)
		return -EPROTO;
	if (step->start)
		return step->start;
	query = calloc(1, sizeof(*query));
	if (!query) {
		give_up();
		return -ENOMEM;
	}
	*query = (struct rcm_sa_query){ .sa = sa, .done = done, .arg = arg, .step = *step };
	if (step->ms != RCM_FAKE_SA_NEVER)
		rcm_timer_start(sa->loop, &query->timer, time_of(step, sa->loop->now), answer);
	*ret_query = query;
	return 0;
}

static int fake_open(struct rcm_loop *loop, struct rcm_sa **ret_sa)
{
	*ret_sa = calloc(1, sizeof(**ret_sa));
	if (!*ret_sa)
		return -ENOMEM;
	(*ret_sa)->loop = loop;
	return 0;
}

static int fake_service(struct rcm_sa *sa, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done,
			void *arg, struct rcm_sa_query **ret_query)
{
	struct rcm_fake_sa_step want = {
		.port = query->port.raw[15], .name = query->by_name ? query->service_name : NULL,
		.id = query->by_id ? query->service_id : 0, .listing = query->most == RCM_LISTED_MAX,
		.gid = query->by_gid ? query->gid.raw[15] : 0, .pkey = query->by_pkey ? query->pkey : 0,
	};

	pthread_mutex_lock(&lock);
	last_deadline = query->deadline;
	pthread_mutex_unlock(&lock);
	return ask(sa, &want, done, arg, ret_query);
}

static int fake_publish(struct rcm_sa *sa, const struct rcm_sa_publication *publication, rcm_sa_done_fn *done,
			void *arg, struct rcm_sa_query **ret_query)
{
	struct rcm_fake_sa_step want = {
		.port = publication->port.raw[15], .remove = publication->remove, .loose = publication->loose,
		.id = publication->record.id, .gid = publication->record.gid.raw[15],
		.pkey = publication->record.pkey,
	};

	pthread_mutex_lock(&lock);
	last_deadline = publication->deadline;
	pthread_mutex_unlock(&lock);
	return ask(sa, &want, done, arg, ret_query);
}

static int fake_path(struct rcm_sa *sa, const struct rcm_sa_path_query *query, rcm_sa_done_fn *done,
		     void *arg, struct rcm_sa_query **ret_query)
{
	struct rcm_fake_sa_step want = {
		.path = true, .port = query->port.raw[15], .dgid = query->dgid.raw[15], .pkey = query->pkey,
		.id = query->service_id, .traffic_class = query->traffic_class, .to_all = query->to_all,
	};

	return ask(sa, &want, done, arg, ret_query);
}

static void fake_cancel(struct rcm_sa *sa, struct rcm_sa_query *query)
{
	(void)sa;
	pthread_mutex_lock(&lock);
	cancelled++;
	pthread_mutex_unlock(&lock);
	query_free(query);
}

static void fake_look(struct rcm_sa *sa)
{
	(void)sa;
	pthread_mutex_lock(&lock);
	client_looks++;
	pthread_mutex_unlock(&lock);
}

static void fake_stats(struct rcm_sa *sa, struct rcm_sa_stats *ret_stats)
{
	(void)sa;
	pthread_mutex_lock(&lock);
	*ret_stats = (struct rcm_sa_stats){ .queries = asked };
	pthread_mutex_unlock(&lock);
}

static void fake_close(struct rcm_sa *sa)
{
	free(sa);
}

const struct rcm_sa_ops rcm_fake_sa = {
	.name = "fake", .open = fake_open, .service = fake_service, .path = fake_path, .publish = fake_publish,
	.cancel = fake_cancel, .look = fake_look, .stats = fake_stats, .close = fake_close, .abandon = fake_close,
};

void rcm_fake_sa_script(const struct rcm_fake_sa_step *new_steps, unsigned count)
{
	pthread_mutex_lock(&lock);
	script = new_steps;
	steps = count;
	asked = unexpected = cancelled = 0;
	memset(used, 0, sizeof(used));
	pthread_mutex_unlock(&lock);
}

bool rcm_fake_sa_verify(void)
{
	struct timespec until;
	bool good;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&lock);
	while (under_way && !pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until))
		;
	good = !unexpected && !under_way;
	for (unsigned i = 0; i < steps; i++)
		good = good && used[i];
	pthread_mutex_unlock(&lock);
	return good;
}

void rcm_fake_sa_wait_asked(unsigned count)
{
	pthread_mutex_lock(&lock);
	while (asked < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

unsigned rcm_fake_sa_asked(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = asked;
	pthread_mutex_unlock(&lock);
	return n;
}

unsigned rcm_fake_sa_cancelled(void)
{
	unsigned v;

	pthread_mutex_lock(&lock);
	v = cancelled;
	pthread_mutex_unlock(&lock);
	return v;
}

uint64_t rcm_fake_sa_deadline(void)
{
	uint64_t v;

	pthread_mutex_lock(&lock);
	v = last_deadline;
	pthread_mutex_unlock(&lock);
	return v;
}

void rcm_fake_sa_set_ports(const struct rcm_sa_port *ports, unsigned count)
{
	pthread_mutex_lock(&lock);
	memcpy(local, ports, count * sizeof(*ports));
	locals = count;
	pthread_mutex_unlock(&lock);
}

int rcm_fake_sa_ports(struct rcm_sa_port *ports, unsigned max)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = locals < max ? locals : max;
	looks++;
	memcpy(ports, local, n * sizeof(*ports));
	pthread_mutex_unlock(&lock);
	return (int)n;
}

unsigned rcm_fake_sa_looks(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = looks;
	pthread_mutex_unlock(&lock);
	return n;
}

unsigned rcm_fake_sa_client_looks(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = client_looks;
	pthread_mutex_unlock(&lock);
	return n;
}
