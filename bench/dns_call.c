/* SPDX-License-Identifier: BSD-2-Clause */
/* Time inside rdma_resolve_addrinfo() while the name server is stopped, beside a UDP round trip over loopback. */
#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 10000, TRIPS = 20000, GAP_US = 30 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int udp_socket(struct sockaddr_in *ret_addr)
{
	socklen_t len = sizeof(*ret_addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*ret_addr = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)ret_addr, len) ||
	    getsockname(fd, (struct sockaddr *)ret_addr, &len))
		err(3, "socket");
	return fd;
}

static void *echo(void *arg)
{
	const int *fd = arg;
	char buf[64];

	while (recv(*fd, buf, sizeof(buf), 0) > 0 && buf[0] == 'a')
		if (send(*fd, buf, 64, 0) < 0)
			err(3, "send");
	return NULL;
}

/* Sorted times of a datagram of 64 bytes to another thread and back. */
static void round_trips(double *took)
{
	struct sockaddr_in near, far;
	int fd = udp_socket(&near), other = udp_socket(&far);
	char buf[64] = "a";
	pthread_t thread;

	if (connect(fd, (struct sockaddr *)&far, sizeof(far)) ||
	    connect(other, (struct sockaddr *)&near, sizeof(near)) || pthread_create(&thread, NULL, echo, &other))
		err(3, "echo");
	for (int i = 0; i < TRIPS; i++) {
		double start = now_us();

		if (send(fd, buf, sizeof(buf), 0) < 0 || recv(fd, buf, sizeof(buf), 0) < 0)
			err(3, "round trip");
		took[i] = now_us() - start;
	}
	send(fd, "z", 1, 0);
	pthread_join(thread, NULL);
	close(fd);
	close(other);
	qsort(took, TRIPS, sizeof(*took), compare);
}

static void wait_us(double us)
{
	double end = now_us() + us;

	while (now_us() < end)
		;
}

/* Sorted times of the calls, gap apart: 0 is a burst; with one the library's thread sleeps before each. */
static void calls(struct rdma_cm_id **ids, double gap, double *took)
{
	static unsigned number;
	char name[64];

	for (int i = 0; i < CALLS; i++) {
		double start;

		snprintf(name, sizeof(name), "call%u.bench.test", number++);
		wait_us(gap);
		start = now_us();
		if (rdma_resolve_addrinfo(ids[i], name, NULL, NULL))
			err(3, "rdma_resolve_addrinfo");
		took[i] = now_us() - start;
	}
	qsort(took, CALLS, sizeof(*took), compare);
}

static void print_row(const char *name, const char *what, double us, double trip, const char *aim)
{
	printf("{\"name\": \"dns call, %s, %s\", \"value\": %.2f, \"unit\": \"us\"", name, what, us);
	if (trip > 0)
		printf(", \"peer\": \"UDP round trip, median\", \"peer_value\": %.2f, \"ratio\": %.3f, "
		       "\"aim\": \"%s\"", trip, us / trip, aim);
	printf("}\n");
}

static void print(const char *name, const double *took, int count, double trip)
{
	print_row(name, "median", took[count / 2], trip, "<= 0.2");
	print_row(name, "p99.9", took[count - count / 1000 - 1], trip, "<= 4");
}

static void resolve(struct rdma_event_channel *channel, struct rdma_cm_id *id, const char *node)
{
	struct rdma_cm_event *event;

	if (rdma_resolve_addrinfo(id, node, "7471", NULL) || rdma_get_cm_event(channel, &event))
		err(3, "%s", node);
	if (event->event != RDMA_CM_EVENT_ADDRINFO_RESOLVED)
		errx(3, "%s: status %d", node, event->status);
	rdma_ack_cm_event(event);
}

/* From the call to the acked event, one after the other, of what nobody has to be asked for. */
static void local_answers(struct rdma_event_channel *channel, const char *name, const char *node, double trip)
{
	static double took[CALLS];
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		err(3, "rdma_create_id");
	resolve(channel, id, node);
	for (int i = 0; i < CALLS; i++) {
		double start = now_us();

		resolve(channel, id, node);
		took[i] = now_us() - start;
	}
	qsort(took, CALLS, sizeof(*took), compare);
	print_row(name, "call to acked event, median", took[CALLS / 2], trip, "<= 0.15");
	rdma_destroy_id(id);
}

static void run(struct rdma_event_channel *channel, const char *name, double gap, double trip)
{
	static struct rdma_cm_id *ids[CALLS];
	static double took[CALLS];
	uint32_t no_limit = 0;

	for (int i = 0; i < CALLS; i++)
		if (rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP) ||
		    rdma_set_option(ids[i], RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &no_limit, sizeof(no_limit)))
			err(3, "rdma_create_id");
	calls(ids, gap, took);
	print(name, took, CALLS, trip);
	for (int i = 0; i < CALLS; i++)
		rdma_destroy_id(ids[i]);
}

int main(void)
{
	const char *group = getenv("RAI_DNS_NSD_PGRP");
	struct rdma_event_channel *channel;
	static double trips[TRIPS];

	if (!group)
		errx(2, "run it by scripts/dns/world -s nsd");
	setenv("RAI_DEVICELESS", "1", 1);
	channel = rdma_create_event_channel();
	if (!channel)
		err(3, "rdma_create_event_channel");
	round_trips(trips);
	print("UDP round trip", trips, TRIPS, 0);
	/* The first name has the host's files read; with it the library's thread is there. */
	local_answers(channel, "a number", "192.0.2.1", trips[TRIPS / 2]);
	local_answers(channel, "a name of the hosts file", "localhost", trips[TRIPS / 2]);
	local_answers(channel, "a kept answer", "v4.rai.test", trips[TRIPS / 2]);
	kill(-atoi(group), SIGSTOP);
	run(channel, "a call each 30 us", GAP_US, trips[TRIPS / 2]);
	run(channel, "calls in a burst", 0, trips[TRIPS / 2]);
	kill(-atoi(group), SIGCONT);
	rdma_destroy_event_channel(channel);
	return 0;
}
