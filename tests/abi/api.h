/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests through the library share: a channel, an id, and the checks that come again and again. */
#pragma once

#include "../unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { API_SLOWER = 10 };		/* fewer rounds, each of them watched */
#else
enum { API_SLOWER = 1 };
#endif

/* The call failed as it has to: -1, and a positive errno. */
#define assert_errno(call, wanted) do { \
	errno = 0; \
	assert_int_equal((call), -1); \
	assert_int_equal(errno, (wanted)); \
} while (0)

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static inline int api_set_up(void **state)
{
	(void)state;
	channel = rdma_create_event_channel();
	return channel ? rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) : -1;
}

static inline int api_tear_down(void **state)
{
	(void)state;
	if (rdma_destroy_id(id))
		return -1;
	rdma_destroy_event_channel(channel);
	return 0;
}

static inline void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
}

static inline bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static inline struct rdma_cm_event *get_event(struct rdma_event_channel *from)
{
	struct rdma_cm_event *event = NULL;

	assert_int_equal(rdma_get_cm_event(from, &event), 0);
	return event;
}

#define API_TEST(name) cmocka_unit_test_setup_teardown(name, api_set_up, api_tear_down)
