/* SPDX-License-Identifier: BSD-2-Clause */
/* Names a second at several depths: through rdma_resolve_addrinfo(), by a bare c-ares loop at its best window, and by
 * getaddrinfo() in threads; the same server, in turns. Prints a JSON object a line. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdma/rai.h>
#include <rdma/rdma_cma.h>

#include "dns_peers.h"

enum { ROUNDS = 5, THREADS_MAX = 32 };
static const double slice = 0.4;	/* seconds of each measurement */

static struct {
	struct rdma_event_channel *channel;
	unsigned next, done, in_flight;
} ours;

static void ask(struct rdma_cm_id *id)
{
	char name[32];

	if (rdma_resolve_addrinfo(id, bench_name(ours.next++, name), NULL, NULL))
		err(1, "rdma_resolve_addrinfo");
	ours.in_flight++;
}

static struct rdma_cm_id *take(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	struct rdma_addrinfo *list;

	if (event->event != RDMA_CM_EVENT_ADDRINFO_RESOLVED || event->param.arg != 2)
		errx(1, "%s, status %d", rdma_event_str(event->event), event->status);
	rdma_ack_cm_event(event);
	if (rdma_query_addrinfo(id, &list))
		err(1, "rdma_query_addrinfo");
	rdma_freeaddrinfo(list);
	ours.in_flight--;
	ours.done++;
	return id;
}

/* Serves what is there; each id that is done asks for the next name where again is set. */
static void turn(int again)
{
	struct pollfd pfd = { .fd = ours.channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&pfd, 1, 10000) != 1)
		errx(1, "no events in 10 s");
	while (!rdma_get_cm_event(ours.channel, &event)) {
		struct rdma_cm_id *id = take(event);

		if (again)
			ask(id);
	}
	if (errno != EAGAIN)
		err(1, "rdma_get_cm_event");
}

/* Kept answers are left alone: each name is asked of the server. */
static struct rdma_cm_id *make_id(void)
{
	uint32_t fresh = 1;
	struct rdma_cm_id *id;

	if (rdma_create_id(ours.channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, &fresh, sizeof(fresh)))
		err(1, "rdma_create_id");
	return id;
}

static double bench_ours(unsigned depth, double seconds)
{
	struct rdma_cm_id **ids = calloc(depth, sizeof(*ids));
	double start, end, rate;

	if (!ids)
		err(1, "calloc");
	for (unsigned i = 0; i < depth; i++)
		ids[i] = make_id();
	ours.done = 0;
	start = bench_now();
	for (unsigned i = 0; i < depth; i++)
		ask(ids[i]);
	do
		turn(1);
	while ((end = bench_now()) - start < seconds);
	rate = ours.done / (end - start);
	while (ours.in_flight)
		turn(0);
	for (unsigned i = 0; i < depth; i++)
		rdma_destroy_id(ids[i]);
	free(ids);
	return rate;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *rates)
{
	qsort(rates, ROUNDS, sizeof(*rates), compare);
	return rates[ROUNDS / 2];
}

static unsigned best_window(void)
{
	static const unsigned windows[] = { 16, 32, 64, 100, 128 };
	unsigned best = 0;
	double most = 0;

	for (unsigned i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		double rate = bench_cares(windows[i], slice);

		if (rate > most) {
			most = rate;
			best = windows[i];
		}
	}
	return best;
}

static void print(unsigned depth, double value, const char *peer, double peer_value, const char *aim)
{
	printf("{\"name\": \"dns names, %u outstanding\", \"value\": %.0f, \"unit\": \"names/s\", \"peer\": \"%s\", "
	       "\"peer_value\": %.0f, \"ratio\": %.3f, \"aim\": \"%s\"}\n",
	       depth, value, peer, peer_value, value / peer_value, aim);
	fflush(stdout);
}

static void compare_at(unsigned depth, unsigned window)
{
	unsigned threads = depth < THREADS_MAX ? depth : THREADS_MAX;
	double mine[ROUNDS], bare[ROUNDS], libc[ROUNDS];

	if (window > depth)
		window = depth;
	for (int i = 0; i < ROUNDS; i++) {
		mine[i] = bench_ours(depth, slice);
		bare[i] = bench_cares(window, slice);
		libc[i] = bench_getaddrinfo(threads, slice);
	}
	print(depth, median(mine), "bare c-ares", median(bare), depth >= 64 ? "0.9" : "");
	print(depth, median(mine), "getaddrinfo() threads", median(libc), "");
}

int main(void)
{
	static const unsigned depths[] = { 1, 64, 1000, 10000 };
	unsigned window = best_window();

	setenv("RAI_DEVICELESS", "1", 1);
	ours.channel = rdma_create_event_channel();
	if (!ours.channel)
		err(1, "rdma_create_event_channel");
	fcntl(ours.channel->fd, F_SETFL, fcntl(ours.channel->fd, F_GETFL) | O_NONBLOCK);
	for (unsigned i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		compare_at(depths[i], window);
	rdma_destroy_event_channel(ours.channel);
	return 0;
}
