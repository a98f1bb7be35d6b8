/* SPDX-License-Identifier: BSD-2-Clause */
/* What the engine alone costs: a name back end that answers every name in the next turn. JSON out. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loop/timer.h"
#include "resolve/engine.h"
#include "resolve/resolve.h"

struct rcm_dns_lookup {
	STAILQ_ENTRY(rcm_dns_lookup) entry;
	rcm_dns_done_fn *done;
	void *arg;
};

/* Answers all that was asked, in order, from one timer; its lookups are never freed, to cost next to nothing. */
struct rcm_dns {
	struct rcm_loop *loop;
	struct rcm_timer timer;
	STAILQ_HEAD(, rcm_dns_lookup) asked, spare;
};

static uint32_t ttl;

static void answer_all(struct rcm_timer *timer)
{
	struct rcm_dns *dns = (struct rcm_dns *)(void *)((char *)timer - offsetof(struct rcm_dns, timer));
	union rcm_dns_address addresses[2] = {
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = 0x0100000a } },
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = 0x0200000a } },
	};
	struct rcm_dns_answer answer = {
		.ttl = ttl, .count = 2, .addresses = addresses, .canonname = "host.example",
	};
	struct rcm_dns_lookup *lookup;

	while ((lookup = STAILQ_FIRST(&dns->asked))) {
		STAILQ_REMOVE_HEAD(&dns->asked, entry);
		lookup->done(lookup->arg, &answer);
		STAILQ_INSERT_HEAD(&dns->spare, lookup, entry);
	}
}

static int bench_settle(struct rcm_dns *dns)
{
	(void)dns;
	return 1;
}

static bool bench_is_settled(struct rcm_dns *dns)
{
	(void)dns;
	return true;
}

static bool bench_knows_ways(struct rcm_dns *dns)
{
	(void)dns;
	return true;
}

static int bench_answer_now(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg)
{
	(void)dns;
	(void)query;
	(void)done;
	(void)arg;
	return 0;
}

static void bench_sort(struct rcm_dns *dns, union rcm_dns_address *addresses, unsigned count)
{
	(void)dns;
	(void)addresses;
	(void)count;
}

static int bench_open(struct rcm_loop *loop, const struct rcm_dns_owner *owner, struct rcm_dns **ret_dns)
{
	static struct rcm_dns dns;

	(void)owner;
	dns.loop = loop;
	STAILQ_INIT(&dns.asked);
	STAILQ_INIT(&dns.spare);
	*ret_dns = &dns;
	return 0;
}

static int bench_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done,
		       void *arg, struct rcm_dns_lookup **ret_lookup)
{
	struct rcm_dns_lookup *lookup = STAILQ_FIRST(&dns->spare);

	(void)query;
	if (lookup)
		STAILQ_REMOVE_HEAD(&dns->spare, entry);
	else
		lookup = malloc(sizeof(*lookup));
	if (!lookup)
		return -ENOMEM;
	lookup->done = done;
	lookup->arg = arg;
	if (STAILQ_EMPTY(&dns->asked))
		rcm_timer_start(dns->loop, &dns->timer, 0, answer_all);
	STAILQ_INSERT_TAIL(&dns->asked, lookup, entry);
	*ret_lookup = lookup;
	return 0;
}

static void bench_move(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, const char *name)
{
	(void)dns;
	(void)lookup;
	(void)name;
}

static void bench_cancel(struct rcm_dns *dns, struct rcm_dns_lookup *lookup)
{
	STAILQ_REMOVE(&dns->asked, lookup, rcm_dns_lookup, entry);
}

static void bench_close(struct rcm_dns *dns)
{
	(void)dns;
}

static const struct rcm_dns_ops ops = {
	.name = "bench", .open = bench_open, .settle = bench_settle, .is_settled = bench_is_settled,
	.knows_ways = bench_knows_ways, .answer_now = bench_answer_now, .sort = bench_sort, .start = bench_start,
	.move = bench_move, .cancel = bench_cancel,
	.close = bench_close, .abandon = bench_close,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static unsigned outstanding, wanted;
static pthread_t caller;
static _Atomic(uint64_t) cpu;		/* ns that the engine's thread has used */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * RCM_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void done(void *arg, struct rcm_outcome *outcome)
{
	(void)arg;
	rcm_answer_put(outcome->answer);
	free(outcome->text);
	pthread_mutex_lock(&lock);
	if (--outstanding == wanted) {
		/* Kept answers are told on the caller's own thread. */
		if (!pthread_equal(pthread_self(), caller))
			cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		pthread_cond_signal(&room);
	}
	pthread_mutex_unlock(&lock);
}

/* Where limit or more are outstanding: waits until no more than left are. */
static void drain(unsigned limit, unsigned left)
{
	pthread_mutex_lock(&lock);
	if (outstanding >= limit) {
		wanted = left;
		while (outstanding > left)
			pthread_cond_wait(&room, &lock);
	}
	pthread_mutex_unlock(&lock);
}

static void ask(unsigned number)
{
	struct rcm_question question = { .deadline_ms = RCM_DEADLINE_DEFAULT };
	struct rcm_request *request;
	char name[32];

	snprintf(name, sizeof(name), "host%u.bench.example", number);
	question.node = name;
	question.service = "7471";
	pthread_mutex_lock(&lock);
	outstanding++;
	pthread_mutex_unlock(&lock);
	if (rcm_request_start(&question, done, NULL, &request))
		exit(1);
	rcm_request_put(request);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void run(const char *what, unsigned names, unsigned window, unsigned total, bool last)
{
	static uint64_t calls[1 << 16];
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), used = cpu, wall, t;

	for (unsigned i = 0; i < total; i++) {
		t = clock_ns(CLOCK_MONOTONIC);
		ask(i % names);
		calls[i & 0xffff] = clock_ns(CLOCK_MONOTONIC) - t;
		drain(window, window / 2);
	}
	drain(0, 0);
	wall = clock_ns(CLOCK_MONOTONIC) - begun;
	qsort(calls, total < 1 << 16 ? total : 1 << 16, sizeof(*calls), compare);
	printf("  {\"case\": \"%s\", \"window\": %u, \"names_per_second\": %.0f, \"engine_ns_per_name\": %.0f, "
	       "\"call_ns_median\": %lu}%s\n", what, window, total * 1e9 / (double)wall,
	       (double)(cpu - used) / total, (unsigned long)calls[(total < 1 << 16 ? total : 1 << 16) / 2],
	       last ? "" : ",");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned total = argc > 1 ? (unsigned)atoi(argv[1]) : 300000;

	caller = pthread_self();
	rcm_engine_use(&(struct rcm_backends){ .dns = &ops });
	ask(0);
	drain(0, 0);
	printf("[\n");
	run("distinct, not kept", 100000, 1, total / 10, false);
	run("distinct, not kept", 100000, 64, total, false);
	run("distinct, not kept", 100000, 1000, total, false);
	run("distinct, not kept", 100000, 10000, total, false);
	ttl = 3600;
	run("distinct, kept", 100000, 1000, total, false);
	run("kept already", 1000, 1000, total, true);
	printf("]\n");
	return 0;
}
