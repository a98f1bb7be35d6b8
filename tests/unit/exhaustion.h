/* SPDX-License-Identifier: BSD-2-Clause */
/* An id in the fakes' world, for calls whose means run out. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rai.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>

#include "cm/id.h"
#include "exhaust.h"
#include "fake_dns.h"
#include "fake_sa.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "resolve/engine.h"
#include "test.h"
#include "world.h"

static struct rdma_cm_id *id;
static struct rdma_cm_id *made;			/* by a call */
static struct rdma_event_channel *channel;
static struct rdma_cm_event *failed_event;
static bool keeps_devices;			/* for good */
static uint32_t handle;


static inline int result(int ret)
{
	return ret ? -errno : 0;
}

/* ---- Ids to call on ---- */

static inline void watch_id(void)
{
	handle = rcm_fake_ucma_last_handle();
	/* A synchronous call's event stays with the id until the next call: so it is of one that failed. */
	exhaust_watch(id, id->channel == &rcm_world_channel->pub ? sizeof(*id) : offsetof(struct rdma_cm_id, event));
}

static inline void make_id(enum rdma_port_space ps)
{
	assert_int_equal(rdma_create_id(&rcm_world_channel->pub, &id, NULL, ps), 0);
	watch_id();
}

static inline void fresh(void)
{
	make_id(RDMA_PS_TCP);
}

static inline struct rdma_cm_event *take(void)
{
	struct pollfd p = { .fd = rcm_world_channel->pub.fd, .events = POLLIN };
	struct rdma_cm_event *event;

	assert_int_equal(poll(&p, 1, 30000), 1);
	assert_int_equal(rdma_get_cm_event(&rcm_world_channel->pub, &event), 0);
	return event;
}

/* Status of the next event, which is acked. */
static inline int outcome(void)
{
	struct rdma_cm_event *event = take();
	int status = event->status;

	rdma_ack_cm_event(event);
	if (status)
		exhaust_by_event();
	return status;
}

/* ---- Each in a process of its own ---- */

static inline void begin(void)
{
	/* A public call, by which the child of a fork finds out what is its own: before the world makes any of that. */
	rdma_destroy_event_channel(rdma_create_event_channel());
	assert_int_equal(rcm_world_before(NULL), 0);
}

static inline void end(void)
{
	if (failed_event)
		rdma_ack_cm_event(failed_event);
	if (id) {
		rdma_destroy_qp(id);
		rdma_destroy_srq(id);
		assert_int_equal(rdma_destroy_id(id), 0);
	}
	if (channel)
		rdma_destroy_event_channel(channel);
	if (!keeps_devices)
		rcm_world_after(NULL);
}

static inline bool run_calls(const struct exhaust_call *calls, size_t count, const char *only)
{
	const struct exhaust exhaust = { .calls = calls, .count = count, .begin = begin, .end = end };

	setenv("RAI_DEVICELESS", "1", 1);
	rcm_engine_use(&(struct rcm_backends){ &rcm_fake_dns, &rcm_fake_sa, rcm_fake_sa_ports });
	return exhaust_run(&exhaust, only);
}
