/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection needs, for tests of the connection manager. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>

#include "addr/sockaddr.h"
#include "cm/address.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "cm/wait.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "verbs/device.h"

struct rcm_channel *rcm_world_channel;

static unsigned device;
static __be64 guid;

int rcm_world_before(void **state)
{
	(void)state;
	rcm_fake_verbs_reset();
	guid++;
	device = rcm_fake_verbs_add("fake0", guid, (int)guid);
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	rcm_fake_ucma_bind(guid, (uint32_t)guid, "192.0.2.1", "192.0.2.2");
	if (rcm_channel_new(&rcm_world_channel))
		return -1;
	return fcntl(rcm_world_channel->pub.fd, F_SETFL, O_NONBLOCK);
}

int rcm_world_after(void **state)
{
	struct rcm_device *none;

	(void)state;
	rcm_world_expect_quiet();
	rcm_channel_close(rcm_world_channel);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
	rcm_fake_ucma_done();
	/* A device that is gone is closed at the next look, if nobody holds it. */
	rcm_fake_verbs_remove(device);
	assert_int_equal(rcm_device_get(++guid, -1, &none), -ENODEV);
	assert_int_equal(rcm_fake_verbs_open_now(device), 0);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
	return 0;
}

void rcm_world_open_error(int error)
{
	rcm_fake_verbs_open_error(device, error);
}

static enum ibv_qp_type qp_type_of(enum rdma_port_space ps)
{
	return ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

struct rcm_id *rcm_world_id(enum rdma_port_space ps)
{
	union rcm_sockaddr dst;
	struct rcm_id *id;

	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, ps, qp_type_of(ps), &id), 0);
	assert_int_equal(rcm_sockaddr_parse("192.0.2.2", AF_INET, &dst), 1);
	assert_int_equal(rcm_address_resolve(id, NULL, &dst.sa, 2000), 0);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, RDMA_CM_EVENT_ADDR_RESOLVED));
	return id;
}

struct rcm_id *rcm_world_sync_id(enum rdma_port_space ps)
{
	union rcm_sockaddr src;
	struct rcm_id *id;

	assert_int_equal(rcm_id_new(NULL, NULL, ps, qp_type_of(ps), &id), 0);
	assert_int_equal(rcm_sockaddr_parse("192.0.2.1", AF_INET, &src), 1);
	assert_int_equal(rcm_id_bind(id, &src.sa), 0);
	return id;
}

struct rcm_id *rcm_world_id_with_qp(enum rdma_port_space ps)
{
	struct rcm_id *id = rcm_world_id(ps);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = id->pub.qp_type, .cap = { .max_send_wr = 4, .max_recv_wr = 8 },
	};

	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	return id;
}

bool rcm_world_is_on(struct rcm_id *id, const struct rcm_channel *channel)
{
	bool is_on;

	rcm_lock_acquire(&id->lock);
	is_on = id->channel == channel;
	rcm_lock_release(&id->lock);
	return is_on;
}

struct rdma_cm_event *rcm_world_take(enum rdma_cm_event_type wanted)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(rcm_world_channel, &event), 0);
	assert_string_equal(rcm_event_name(event->pub.event), rcm_event_name(wanted));
	return &event->pub;
}

struct rdma_cm_event *rcm_world_event(struct rcm_id *id, enum rdma_cm_event_type kernels, int status,
				      enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	rcm_fake_ucma_event_of(id->handle, kernels, status);
	event = rcm_world_take(wanted);
	assert_ptr_equal(event->id, &id->pub);
	return event;
}

void rcm_world_expect_quiet(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(rcm_world_channel, &event), -EAGAIN);
}

void rcm_world_ack(struct rdma_cm_event *event)
{
	rcm_event_ack(rcm_event_of(event));
}

void *rcm_world_last_bytes(size_t len)
{
	static _Alignas(8) uint8_t body[512];

	assert_int_equal(rcm_fake_ucma_last_body(body, sizeof(body)), len);
	return body;
}
