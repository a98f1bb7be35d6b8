/* SPDX-License-Identifier: BSD-2-Clause */
/* A bare c-ares loop at its best, and getaddrinfo() in threads. */
#include "dns_peers.h"

#include <ares.h>
#include <err.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *bench_name(enum bench_kind kind, unsigned index, char *buf)
{
	snprintf(buf, 32, "%c%04u.bench.test", kind, index % BENCH_NAMES);
	return buf;
}

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

double bench_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static struct {
	ares_channel channel;
	int epfd;
	unsigned next, in_flight, done;
} bare;

static void bare_done(void *arg, int status, int timeouts, struct ares_addrinfo *result)
{
	(void)arg;
	(void)timeouts;
	bare.in_flight--;
	/* Datagrams lost in a full buffer: not a name done. */
	if (status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED)
		return;
	if (status != ARES_SUCCESS)
		errx(1, "c-ares: %s", ares_strerror(status));
	if (!result->nodes || !result->nodes->ai_next)
		errx(1, "c-ares: addresses are missing");
	ares_freeaddrinfo(result);
	bare.done++;
}

static void bare_ask(void)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	char name[32];

	bare.in_flight++;
	ares_getaddrinfo(bare.channel, bench_name(BENCH_BOTH, bare.next++, name), NULL, &hints, bare_done, NULL);
}

static void bare_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct epoll_event event = { .events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U),
				     .data.fd = fd };

	(void)arg;
	if (!event.events)
		epoll_ctl(bare.epfd, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(bare.epfd, EPOLL_CTL_ADD, fd, &event))
		epoll_ctl(bare.epfd, EPOLL_CTL_MOD, fd, &event);
}

static void bare_turn(void)
{
	struct epoll_event events[16];
	int n = epoll_wait(bare.epfd, events, 16, 100);

	if (!n)
		ares_process_fd(bare.channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	for (int i = 0; i < n; i++)
		ares_process_fd(bare.channel,
				events[i].events & ~(uint32_t)EPOLLOUT ? events[i].data.fd : ARES_SOCKET_BAD,
				events[i].events & EPOLLOUT ? events[i].data.fd : ARES_SOCKET_BAD);
}

/* No hosts file, no service, never ares_timeout(): each of them would slow it down. */
struct bench_figure bench_cares(unsigned window, double seconds)
{
	struct ares_options options = { .sock_state_cb = bare_socket, .lookups = (char[]){ "b" }, .timeout = 1000 };
	double start, end, cpu = bench_cpu();
	struct bench_figure figure;

	memset(&bare, 0, sizeof(bare));
	bare.epfd = epoll_create1(EPOLL_CLOEXEC);
	if (ares_init_options(&bare.channel, &options,
			      ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS | ARES_OPT_TIMEOUTMS))
		errx(1, "ares_init_options");
	start = bench_now();
	do {
		while (bare.in_flight < window)
			bare_ask();
		bare_turn();
	} while ((end = bench_now()) - start < seconds);
	figure.rate = bare.done / (end - start);
	figure.cpu_us = (bench_cpu() - cpu) * 1e6 / bare.done;
	while (bare.in_flight)
		bare_turn();
	ares_destroy(bare.channel);
	close(bare.epfd);
	return figure;
}

static struct {
	atomic_uint next, done;
	atomic_bool over;
} threads_state;

static void *getaddrinfo_thread(void *arg)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	char name[32];
	int err;

	(void)arg;
	while (!atomic_load(&threads_state.over)) {
		err = getaddrinfo(bench_name(BENCH_BOTH, atomic_fetch_add(&threads_state.next, 1), name), NULL, &hints, &list);
		if (err)
			errx(1, "getaddrinfo: %s", gai_strerror(err));
		freeaddrinfo(list);
		atomic_fetch_add(&threads_state.done, 1);
	}
	return NULL;
}

struct bench_figure bench_getaddrinfo(unsigned threads, double seconds)
{
	pthread_t thread[threads];
	double start = bench_now(), cpu = bench_cpu();
	unsigned done;

	memset(&threads_state, 0, sizeof(threads_state));
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, getaddrinfo_thread, NULL))
			err(1, "pthread_create");
	usleep((useconds_t)(seconds * 1e6));
	atomic_store(&threads_state.over, true);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	done = atomic_load(&threads_state.done);
	return (struct bench_figure){ done / (bench_now() - start), (bench_cpu() - cpu) * 1e6 / done };
}
