/* SPDX-License-Identifier: BSD-2-Clause */
/* Names a second at several depths, and the processor time of each: through rdma_resolve_addrinfo(), by a bare c-ares
 * loop and by dnsperf at their best windows, and by getaddrinfo() in threads; the same server, in turns. Prints a JSON
 * object a line. With a depth as argument, and "one" for names with one address, ours alone for five seconds, to be
 * looked at by a profiler. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rai.h>
#include <rdma/rdma_cma.h>

#include "dns_peers.h"

enum { ROUNDS = 5, THREADS_MAX = 32, DEEP = 100000 };
static const double slice = 0.4;	/* seconds of each measurement */

static struct {
	struct rdma_event_channel *channel;
	enum bench_kind kind;
	unsigned next, done, lost, in_flight;
} ours;

static void ask(struct rdma_cm_id *id)
{
	char name[32];

	if (rdma_resolve_addrinfo(id, bench_name(ours.kind, ours.next++, name), NULL, NULL))
		err(1, "rdma_resolve_addrinfo");
	ours.in_flight++;
}

/* What lacks an address, as its answers were lost in a full buffer, is not a name done. */
static void check(const struct rdma_cm_event *event)
{
	char text[192] = "";

	if (event->status && event->status != -ETIMEDOUT) {
		rai_event_text((struct rdma_cm_event *)event, text, sizeof(text));
		errx(1, "%s, status %d: %s", rdma_event_str(event->event), event->status, text);
	}
	if (!event->status && event->param.arg == (ours.kind == BENCH_BOTH ? 2 : 1))
		ours.done++;
	else
		ours.lost++;
}

static struct rdma_cm_id *take(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	struct rdma_addrinfo *list = NULL;
	bool resolved = !event->status;

	check(event);
	rdma_ack_cm_event(event);
	if (resolved && rdma_query_addrinfo(id, &list))
		err(1, "rdma_query_addrinfo");
	rdma_freeaddrinfo(list);
	ours.in_flight--;
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

static struct bench_figure bench_ours(enum bench_kind kind, unsigned depth, double seconds)
{
	struct rdma_cm_id **ids = calloc(depth, sizeof(*ids));
	struct bench_figure figure;
	double start, end, cpu;

	if (!ids)
		err(1, "calloc");
	for (unsigned i = 0; i < depth; i++)
		ids[i] = make_id();
	ours.kind = kind;
	ours.done = 0;
	cpu = bench_cpu();
	start = bench_now();
	for (unsigned i = 0; i < depth; i++)
		ask(ids[i]);
	do
		turn(1);
	while ((end = bench_now()) - start < seconds);
	figure = (struct bench_figure){ ours.done / (end - start), (bench_cpu() - cpu) * 1e6 / ours.done };
	while (ours.in_flight)
		turn(0);
	for (unsigned i = 0; i < depth; i++)
		rdma_destroy_id(ids[i]);
	free(ids);
	return figure;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct bench_figure median(const struct bench_figure figures[ROUNDS])
{
	double rates[ROUNDS], cpus[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		rates[i] = figures[i].rate;
		cpus[i] = figures[i].cpu_us;
	}
	qsort(rates, ROUNDS, sizeof(*rates), compare);
	qsort(cpus, ROUNDS, sizeof(*cpus), compare);
	return (struct bench_figure){ rates[ROUNDS / 2], cpus[ROUNDS / 2] };
}

static struct bench_figure dnsperf_of_both(unsigned window, double seconds)
{
	return bench_dnsperf(BENCH_BOTH, window, seconds);
}

/* How many in flight get the most out of a peer. */
static unsigned best_window(struct bench_figure (*peer)(unsigned window, double seconds))
{
	static const unsigned windows[] = { 16, 32, 64, 100, 128, 256 };
	unsigned best = 0;
	double most = 0;

	for (unsigned i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		double rate = peer(windows[i], slice).rate;

		if (rate > most) {
			most = rate;
			best = windows[i];
		}
	}
	return best;
}

static void print(const char *what, unsigned depth, const struct bench_figure figures[ROUNDS], const char *peer,
		  const struct bench_figure peer_figures[ROUNDS], const char *aim)
{
	struct bench_figure ours_median = median(figures), peer_median = median(peer_figures);

	printf("{\"name\": \"%s, %u outstanding\", \"value\": %.0f, \"unit\": \"names/s\", \"peer\": \"%s\", "
	       "\"peer_value\": %.0f, \"ratio\": %.3f, \"aim\": \"%s\", \"cpu us/name\": %.1f, "
	       "\"peer cpu\": %.1f, \"lost\": %u}\n", what, depth, ours_median.rate, peer, peer_median.rate,
	       ours_median.rate / peer_median.rate, aim, ours_median.cpu_us, peer_median.cpu_us, ours.lost);
	fflush(stdout);
}

/* A depth of a hundred thousand has to begin before it can go on. */
static double slice_at(unsigned depth)
{
	return depth < DEEP ? slice : 4 * slice;
}

static void compare_with_all(unsigned depth, unsigned cares_window, unsigned dnsperf_window)
{
	struct bench_figure mine[ROUNDS], bare[ROUNDS], libc[ROUNDS], perf[ROUNDS];

	ours.lost = 0;
	for (int i = 0; i < ROUNDS; i++) {
		mine[i] = bench_ours(BENCH_BOTH, depth, slice_at(depth));
		bare[i] = bench_cares(depth < cares_window ? depth : cares_window, slice);
		libc[i] = bench_getaddrinfo(depth < THREADS_MAX ? depth : THREADS_MAX, slice);
		perf[i] = bench_dnsperf(BENCH_BOTH, depth == 1 ? 2 : dnsperf_window, slice);
	}
	print("dns names", depth, mine, "bare c-ares", bare, depth == 1 ? "0.95" : "0.9");
	print("dns names", depth, mine, "getaddrinfo() threads", libc, "");
	print("dns names", depth, mine, "dnsperf, two questions a name", perf, depth == 1 ? "" : "1.2");
}

static void compare_with_dnsperf(unsigned depth, unsigned window)
{
	struct bench_figure mine[ROUNDS], perf[ROUNDS];

	ours.lost = 0;
	for (int i = 0; i < ROUNDS; i++) {
		mine[i] = bench_ours(BENCH_ONE, depth, slice_at(depth));
		perf[i] = bench_dnsperf(BENCH_ONE, window, slice);
	}
	print("dns names with one address", depth, mine, "dnsperf, two questions a name", perf, "1.2");
}

/* Where only the world's own file is written to. */
static void configure(const char *options)
{
	FILE *file = getenv("RAI_WORLD_DIR") ? fopen("/etc/resolv.conf", "w") : NULL;

	if (!file)
		err(3, "resolv.conf of the world");
	fprintf(file, "nameserver %s\n%s", getenv("RAI_DNS_NSD"), options);
	fclose(file);
}

static void compare_by_tcp(unsigned depth)
{
	struct bench_figure tcp[ROUNDS], udp[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		configure("options use-vc\n");
		tcp[i] = bench_ours(BENCH_BOTH, depth, slice);
		configure("");
		udp[i] = bench_ours(BENCH_BOTH, depth, slice);
	}
	print("dns names by TCP", depth, tcp, "the same by UDP", udp, "0.4");
}

static void compare_at_all_depths(void)
{
	static const unsigned depths[] = { 1, 64, 1000, 10000, DEEP };
	unsigned cares_window = best_window(bench_cares), dnsperf_window = best_window(dnsperf_of_both);
	unsigned count = sizeof(depths) / sizeof(*depths);

	for (unsigned i = 0; i < count; i++)
		compare_with_all(depths[i], cares_window, dnsperf_window);
	for (unsigned i = 1; i < count; i++)
		compare_with_dnsperf(depths[i], dnsperf_window);
	compare_by_tcp(1000);
}

int main(int argc, char **argv)
{
	setenv("RAI_DEVICELESS", "1", 1);
	ours.channel = rdma_create_event_channel();
	if (!ours.channel)
		err(1, "rdma_create_event_channel");
	fcntl(ours.channel->fd, F_SETFL, fcntl(ours.channel->fd, F_GETFL) | O_NONBLOCK);
	if (argc > 1) {
		bool one = argc > 2 && !strcmp(argv[2], "one");
		struct bench_figure figure = bench_ours(one ? BENCH_ONE : BENCH_BOTH, (unsigned)atoi(argv[1]), argc > 3 ? atof(argv[3]) : 5);

		printf("%.0f names/s, %.1f us of processor time a name, %u lost\n", figure.rate, figure.cpu_us, ours.lost);
	} else {
		compare_at_all_depths();
	}
	rdma_destroy_event_channel(ours.channel);
	return 0;
}
