/* SPDX-License-Identifier: BSD-2-Clause */
/* What every poller of a channel's descriptor has to see, whoever the events come from. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 10 };
#else
enum { ROUNDS = 60 };
#endif
enum { WAKE_MS = 5000, USER = 18 };

struct round {
	const struct watch_ops *ops;
	const struct watch_world *world;
	unsigned rounds;
	struct rdma_event_channel *channel;	/* O_NONBLOCK */
	struct rdma_cm_id *id;			/* on it */
	void *watch;
	const char *why;			/* the first thing that was wrong */
};

static void check(struct round *round, bool good, const char *why)
{
	if (!good && !round->why)
		round->why = why;
}

static void write_own(struct round *round, struct rdma_cm_id *id)
{
	check(round, !rdma_write_cm_event(id, (enum rdma_cm_event_type)USER, 0, 1), "rdma_write_cm_event() failed");
}

static void wake(struct round *round, void *watch)
{
	check(round, round->ops->wait(watch, WAKE_MS) == 1, "an event is due, and the watcher isn't woken");
}

/* The others may have a wake-up left of an event that was read meanwhile. */
static void quiet(struct round *round, void *watch)
{
	if (round->ops->kind == WATCH_LEVEL)
		check(round, round->ops->wait(watch, 0) == 0, "readable, and no event is due");
}

/* Takes one event, of the application's own or of an id that the kernel had it for, which ends with it. */
static bool take(struct round *round)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(round->channel, &event)) {
		check(round, errno == EAGAIN, "rdma_get_cm_event() failed");
		return false;
	}
	id = event->id;
	rdma_ack_cm_event(event);
	if (id != round->id)
		rdma_destroy_id(id);
	return true;
}

static unsigned drain(struct round *round)
{
	unsigned count = 0;

	while (take(round))
		count++;
	return count;
}

/* Wake-up and reading until so many came: the kernel's come when they please. */
static void collect(struct round *round, unsigned wanted)
{
	unsigned count = 0;

	while (count < wanted && !round->why) {
		wake(round, round->watch);
		count += drain(round);
	}
	check(round, round->why || count == wanted, "more events than there should be");
	quiet(round, round->watch);
}

static void collect_singly(struct round *round, unsigned wanted)
{
	for (unsigned count = 0; count < wanted && !round->why;) {
		wake(round, round->watch);
		if (take(round))
			count++;
		else
			check(round, round->ops->kind == WATCH_PAST, "readable, and no event is due");
	}
	quiet(round, round->watch);
}

static void own_drained(struct round *round)
{
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		for (unsigned n = 0; n <= i % 3; n++)
			write_own(round, round->id);
		wake(round, round->watch);
		check(round, drain(round) == i % 3 + 1, "not all events were there");
		quiet(round, round->watch);
	}
}

static void own_singly(struct round *round)
{
	if (round->ops->kind == WATCH_EDGE)
		return;
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		for (unsigned n = 0; n < 3; n++)
			write_own(round, round->id);
		collect_singly(round, 3);
	}
}

/* The second resolution, and each after it, wakes as the first did. */
static void resolved(struct round *round)
{
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		check(round, !rdma_resolve_addrinfo(round->id, "192.0.2.1", NULL, NULL), "resolution not started");
		collect(round, 1);
	}
}

struct writer {
	struct round *round;
	sem_t go;
};

static void *write_when_told(void *arg)
{
	struct writer *writer = arg;

	for (unsigned i = 0; i < writer->round->rounds; i++) {
		while (sem_wait(&writer->go))
			;
		rdma_write_cm_event(writer->round->id, (enum rdma_cm_event_type)USER, 0, i);
	}
	return NULL;
}

/* Written by another thread, before or after the watcher waits. */
static void from_thread(struct round *round)
{
	struct writer writer = { .round = round };
	pthread_t thread;

	sem_init(&writer.go, 0, 0);
	pthread_create(&thread, NULL, write_when_told, &writer);
	for (unsigned i = 0; i < round->rounds; i++) {
		sem_post(&writer.go);
		if (!round->why)
			collect(round, 1);
	}
	pthread_join(thread, NULL);
	sem_destroy(&writer.go);
}

static void two_watchers(struct round *round)
{
	void *second = round->ops->open(round->channel->fd);

	check(round, second, "no second watcher");
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		write_own(round, round->id);
		wake(round, round->watch);
		if (i & 1)
			wake(round, second);
		check(round, drain(round) == 1, "the event is not there");
		quiet(round, round->watch);
		quiet(round, second);
	}
	if (second)
		round->ops->close(second);
}

/* A copy of the descriptor is watched, and the channel's own moves to another number. */
static void duplicated(struct round *round)
{
	int copy = fcntl(round->channel->fd, F_DUPFD_CLOEXEC, 0), moved = fcntl(copy, F_DUPFD_CLOEXEC, 0);
	void *of_channel = round->watch;

	round->watch = round->ops->open(copy);
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		write_own(round, round->id);
		collect(round, 1);
		if (i == round->rounds / 2) {
			round->ops->close(of_channel);
			close(round->channel->fd);
			round->channel->fd = moved;
			of_channel = round->ops->open(moved);
		}
	}
	round->ops->close(round->watch);
	close(copy);
	round->watch = of_channel;
}

/* Events move with their id to the channel that is watched. */
static void migrated(struct round *round)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_id *id = round->id;

	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		check(round, !rdma_migrate_id(id, other), "rdma_migrate_id() failed");
		write_own(round, id);
		write_own(round, id);
		quiet(round, round->watch);
		check(round, !rdma_migrate_id(id, round->channel), "rdma_migrate_id() back failed");
		wake(round, round->watch);
		check(round, drain(round) == 2, "not all events moved");
		quiet(round, round->watch);
	}
	rdma_destroy_event_channel(other);
}

/* Taken away before they are read: the next ones wake. */
static void withdrawn(struct round *round)
{
	struct rdma_cm_id *id;

	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		if (rdma_create_id(round->channel, &id, NULL, RDMA_PS_TCP))
			abort();
		write_own(round, id);
		if (i & 1)
			wake(round, round->watch);
		rdma_destroy_id(id);
		quiet(round, round->watch);
		write_own(round, round->id);
		collect(round, 1);
	}
}

static void of_kernel(struct round *round)
{
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		for (unsigned n = 0; n <= i % 3; n++)
			round->world->kernel(round->channel);
		collect(round, i % 3 + 1);
	}
}

/* One of four, the application's own or the kernel's by the bits of which. */
static void cause(struct round *round, unsigned which, unsigned n)
{
	if (which >> n & 1)
		round->world->kernel(round->channel);
	else
		write_own(round, round->id);
}

/* Some are read between the others. */
static void mixed(struct round *round)
{
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		unsigned taken = 0;

		for (unsigned n = 0; n < 4; n++) {
			cause(round, i, n);
			if (n != (i >> 4) % 3)
				continue;
			wake(round, round->watch);
			taken = round->ops->kind == WATCH_EDGE ? drain(round) : take(round);
		}
		collect(round, 4 - taken);
	}
}

static void mixed_singly(struct round *round)
{
	if (round->ops->kind == WATCH_EDGE)
		return;
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		for (unsigned n = 0; n < 4; n++)
			cause(round, i, n);
		collect_singly(round, 4);
	}
}

/* MIGRATE_ID itself wakes nobody. */
static void kernel_migrated(struct round *round)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		struct rdma_cm_id *id = round->world->kernel(other);
		struct pollfd due = { .fd = other->fd, .events = POLLIN };

		check(round, poll(&due, 1, WAKE_MS) == 1, "the kernel has no event");
		if (i & 1)
			write_own(round, id);
		check(round, !rdma_migrate_id(id, round->channel), "rdma_migrate_id() failed");
		wake(round, round->watch);
		/* Its first event ends the id. */
		check(round, take(round), "the event didn't move");
		drain(round);
		quiet(round, round->watch);
	}
	rdma_destroy_event_channel(other);
}

/* What the library keeps to itself ends in EAGAIN, and the next event wakes as ever. */
static void swallowed(struct round *round)
{
	for (unsigned i = 0; i < round->rounds && !round->why; i++) {
		round->world->swallowed(round->channel);
		if (i & 1)
			wake(round, round->watch);
		check(round, drain(round) == 0, "an event that is for nobody came");
		quiet(round, round->watch);
		if (i & 2)
			write_own(round, round->id);
		else
			round->world->kernel(round->channel);
		collect(round, 1);
	}
}

static const struct watch_case {
	const char *name;
	void (*run)(struct round *round);
	bool kernel, swallows;
} cases[] = {
	{ "own_events_drained", own_drained, false, false },
	{ "own_events_taken_singly", own_singly, false, false },
	{ "resolutions", resolved, false, false },
	{ "events_written_by_a_thread", from_thread, false, false },
	{ "two_watchers", two_watchers, false, false },
	{ "duplicated_descriptor", duplicated, false, false },
	{ "migrated_id", migrated, false, false },
	{ "withdrawn_events", withdrawn, false, false },
	{ "kernel_events", of_kernel, true, false },
	{ "mixed_events", mixed, true, false },
	{ "mixed_events_taken_singly", mixed_singly, true, false },
	{ "migrated_id_with_kernel_event", kernel_migrated, true, false },
	{ "swallowed_events", swallowed, true, true },
};

static bool run_case(const struct watch_ops *ops, const struct watch_world *world, const struct watch_case *it)
{
	struct round round = { .ops = ops, .world = world, .channel = rdma_create_event_channel(),
			       .rounds = world->rounds ? world->rounds : ROUNDS };

	if (!round.channel || rdma_create_id(round.channel, &round.id, NULL, RDMA_PS_TCP))
		abort();
	fcntl(round.channel->fd, F_SETFL, O_NONBLOCK);
	round.watch = ops->open(round.channel->fd);
	if (!round.watch) {
		printf("ok %s/%s # SKIP not here\n", ops->name, it->name);
	} else {
		it->run(&round);
		ops->close(round.watch);
		if (round.why)
			printf("not ok %s/%s # %s\n", ops->name, it->name, round.why);
		else
			printf("ok %s/%s\n", ops->name, it->name);
	}
	fflush(stdout);
	drain(&round);
	rdma_destroy_id(round.id);
	rdma_destroy_event_channel(round.channel);
	return !round.why;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

static bool run_all(const struct watch_ops *ops, const struct watch_world *world)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if ((cases[i].kernel && !world->kernel) || (cases[i].swallows && !world->swallowed))
			continue;
		good = run_case(ops, world, &cases[i]) && good;
	}
	return good;
}

int watch_main(const struct watch_world *world, int argc, char **argv)
{
	static const struct watch_ops *const tables[] = {
		watch_calls,
#ifdef HAVE_URING
		watch_uring,
#endif
#ifdef HAVE_UV
		watch_uv,
#endif
#ifdef HAVE_EVENT
		watch_event,
#endif
#ifdef HAVE_EV
		watch_ev,
#endif
#ifdef HAVE_ASIO
		watch_asio,
#endif
	};
	bool good = true;

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct watch_ops *ops = tables[t]; ops->name; ops++)
			if (wanted(ops->name, argc, argv))
				good = run_all(ops, world) && good;
	return !good;
}
