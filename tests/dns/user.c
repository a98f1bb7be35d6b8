/* SPDX-License-Identifier: BSD-2-Clause */
/* An application that resolves names on one event channel. */
#include "user.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../unit/test.h"

struct rdma_event_channel *user_channel;

uint64_t user_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void user_open(void)
{
	if (access("/etc/rai-dns-world", F_OK)) {
		warnx("not in the test world, skipped");
		exit(77);
	}
	setenv("RAI_DEVICELESS", "1", 1);
	user_channel = rdma_create_event_channel();
	if (!user_channel)
		err(1, "rdma_create_event_channel");
	fcntl(user_channel->fd, F_SETFL, fcntl(user_channel->fd, F_GETFL) | O_NONBLOCK);
}

void user_close(void)
{
	rdma_destroy_event_channel(user_channel);
}

void user_create(struct user *user, struct rdma_event_channel *channel)
{
	memset(user, 0, sizeof(*user));
	assert_int_equal(rdma_create_id(channel ? channel : user_channel, &user->id, user, RDMA_PS_TCP), 0);
}

void user_destroy(struct user *user)
{
	assert_int_equal(rdma_destroy_id(user->id), 0);
	user->id = NULL;
}

void user_print(const struct rdma_addrinfo *list, char *text, size_t size)
{
	char address[NI_MAXHOST];
	size_t len = 0;

	*text = '\0';
	for (const struct rdma_addrinfo *ai = list; ai && len < size; ai = ai->ai_next) {
		if (getnameinfo(ai->ai_dst_addr, ai->ai_dst_len, address, sizeof(address), NULL, 0, NI_NUMERICHOST))
			strcpy(address, "?");
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? " " : "", address);
	}
}

static void take(struct rdma_cm_event *event)
{
	struct user *user = event->id->context;
	struct rdma_addrinfo *list = NULL;

	assert_false(user->done);
	user->done = true;
	user->took_ms = (double)(user_now() - user->started) / 1e6;
	user->event = event->event;
	user->status = event->status;
	user->arg = event->param.arg;
	if (event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED) {
		assert_int_equal(rdma_query_addrinfo(event->id, &list), 0);
		user_print(list, user->text, sizeof(user->text));
		rdma_freeaddrinfo(list);
	} else {
		assert_true(rai_event_text(event, user->text, sizeof(user->text)) > 0);
	}
	rdma_ack_cm_event(event);
}

void user_start(struct user *user, const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	if (!user->id)
		user_create(user, NULL);
	user->done = false;
	user->started = user_now();
	assert_int_equal(rdma_resolve_addrinfo(user->id, node, service, hints), 0);
	user->call_ns = user_now() - user->started;
}

bool user_wait(struct user *user, unsigned max_ms)
{
	uint64_t end = user_now() + (uint64_t)max_ms * 1000000, now;
	struct pollfd pfd = { .fd = user_channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	while (!user->done && (now = user_now()) < end) {
		if (poll(&pfd, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		while (!rdma_get_cm_event(user_channel, &event))
			take(event);
		assert_int_equal(errno, EAGAIN);
	}
	return user->done;
}

void user_ask(struct user *user, const char *node)
{
	user_start(user, node, NULL, NULL);
	assert_true(user_wait(user, 30000));
}

static void signal_server(const char *server, int number)
{
	char variable[64];
	const char *pgrp;

	snprintf(variable, sizeof(variable), "RAI_DNS_%s_PGRP", server);
	pgrp = getenv(variable);
	assert_non_null(pgrp);
	assert_int_equal(kill(-atoi(pgrp), number), 0);
}

void user_pause(const char *server)
{
	signal_server(server, SIGSTOP);
}

void user_resume(const char *server)
{
	signal_server(server, SIGCONT);
}

void user_write(const char *path, const char *text)
{
	char temporary[128];
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(rename(temporary, path), 0);
}
