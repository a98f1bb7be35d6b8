/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening, and the requests that come in. */
#include "cm/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "cm/endpoint.h"
#include "cm/ep.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "cm/take.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static void test_listen_learns_the_port_it_got(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	unsigned queries = rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY);

	(void)state;
	assert_int_equal(rcm_listen(id, 5), 0);
	assert_true(rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY) > queries);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_LISTEN), EADDRINUSE);
	assert_int_equal(rcm_listen(id, 5), -EADDRINUSE);
	rcm_id_destroy(id);
}

static void test_request_is_a_new_id_on_the_listeners_channel(void **state)
{
	const struct rdma_ucm_conn_param param = { .private_data = "hi", .private_data_len = 56, .qp_num = 9 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id;
	struct rdma_cm_event *event;
	uint32_t handle;

	(void)state;
	listener->pub.context = &handle;
	handle = rcm_fake_ucma_connect_request(listener->handle, &param);
	event = rcm_world_take(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = rcm_id_of(event->id);
	assert_ptr_equal(event->listen_id, &listener->pub);
	assert_ptr_not_equal(id, listener);
	assert_int_equal(id->handle, handle);
	assert_ptr_equal(id->pub.context, &handle);
	assert_ptr_equal(id->pub.channel, &rcm_world_channel->pub);
	assert_int_equal(id->pub.ps, RDMA_PS_TCP);
	assert_non_null(id->pub.verbs);
	assert_int_equal(id->pub.route.num_paths, 1);
	assert_int_equal(event->param.conn.qp_num, 9);
	assert_string_equal(event->param.conn.private_data, "hi");
	rcm_world_ack(event);
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

static void test_request_not_taken_goes_with_its_listener(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	/* As a migration does: the request is in the channel's queue then. */
	rcm_lock_acquire(&rcm_world_channel->lock);
	rcm_channel_catch_up_locked(rcm_world_channel);
	rcm_lock_release(&rcm_world_channel->lock);
	assert_int_equal(rcm_fake_ucma_ids(), 2);
	rcm_id_destroy(listener);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* As a migration does, which reads what is ready and gives nothing back. */
static struct rcm_channel *make_channel_with_request_for_nobody(void)
{
	struct rdma_ucm_event_resp request = { .event = RDMA_CM_EVENT_CONNECT_REQUEST, .id = 1000 };
	struct rcm_channel *channel;

	assert_int_equal(rcm_channel_new(&channel), 0);
	rcm_fake_ucma_event(channel->ucma.fd, &request);
	rcm_lock_acquire(&channel->lock);
	rcm_channel_catch_up_locked(channel);
	rcm_lock_release(&channel->lock);
	return channel;
}

/* Whoever stopped it is about to close the descriptor that a late reader would give a command on. */
static void test_request_for_nobody_is_left_by_a_late_reader_to_who_closes_the_channel(void **state)
{
	struct rcm_channel *channel = make_channel_with_request_for_nobody();
	struct rcm_event *event;

	(void)state;
	rcm_channel_stop(channel);
	assert_int_equal(rcm_channel_take(channel, &event), -ECANCELED);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DESTROY_ID), 0);
	rcm_channel_close(channel);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DESTROY_ID), 1);
}

/* F21 */
static void test_request_on_device_that_cannot_be_opened_is_dropped(void **state)
{
	struct rcm_id *listener;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &listener), 0);
	rcm_world_open_error(EACCES);
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	rcm_world_expect_quiet();
	assert_int_equal(rcm_fake_ucma_ids(), 1);
	rcm_id_destroy(listener);
}

static void test_request_waits_for_its_ack_when_the_listener_is_destroyed(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id;
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	event = rcm_world_take(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = rcm_id_of(event->id);
	/* Counted on the listener, not on the new id, which can go before the ack. */
	assert_int_equal(listener->unacked[0], 1);
	assert_int_equal(id->unacked[0], 0);
	rcm_id_destroy(id);
	rcm_world_ack(event);
	assert_int_equal(listener->unacked[0], 0);
	rcm_id_destroy(listener);
}

static void test_get_request_gives_a_synchronous_id_with_its_event(void **state)
{
	const struct rdma_ucm_conn_param param = { .private_data = "hi", .private_data_len = 56 };
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP), *id = NULL;

	(void)state;
	assert_int_equal(rcm_listen(listener, 1), 0);
	rcm_fake_ucma_connect_request(listener->handle, &param);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), 0);
	assert_true(rcm_id_is_sync(id));
	assert_ptr_not_equal(id->pub.channel, listener->pub.channel);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_string_equal(id->pub.event->param.conn.private_data, "hi");
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

/* Its events are told of from ACCEPT on: nothing is read on the way of it, and no more is asked than has to be known. */
static void test_get_request_looks_for_events_once_and_moves_the_id_once(void **state)
{
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP), *id = NULL;
	unsigned reads, moves;

	(void)state;
	assert_int_equal(rcm_listen(listener, 1), 0);
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	reads = rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT);
	moves = rcm_fake_ucma_count(RDMA_USER_CM_CMD_MIGRATE_ID);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), 0);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT), reads + 1);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_MIGRATE_ID), moves + 1);
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

static void test_channel_without_a_request_is_looked_at_once(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP);
	unsigned reads = rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT);

	(void)state;
	rcm_world_expect_quiet();
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT), reads + 1);
	rcm_id_destroy(listener);
}

static void test_request_that_cannot_be_moved_is_dropped(void **state)
{
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP), *id = NULL;

	(void)state;
	assert_int_equal(rcm_listen(listener, 1), 0);
	assert_int_equal(fcntl(listener->pub.channel->fd, F_SETFL, O_NONBLOCK), 0);
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID), ENOMEM);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), -EAGAIN);
	assert_int_equal(rcm_fake_ucma_ids(), 1);
	rcm_id_destroy(listener);
}

static void test_get_request_of_asynchronous_listener_is_refused(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id;

	(void)state;
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), -EINVAL);
	rcm_id_destroy(listener);
}

static void test_get_request_honours_o_nonblock(void **state)
{
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP), *id;

	(void)state;
	assert_int_equal(fcntl(listener->pub.channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), -EAGAIN);
	rcm_id_destroy(listener);
}

static void test_get_request_leaves_another_event_with_the_listener(void **state)
{
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP), *id = NULL;

	(void)state;
	rcm_fake_ucma_event_of(listener->handle, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), -EINVAL);
	assert_null(id);
	assert_int_equal(listener->pub.event->event, RDMA_CM_EVENT_ADDR_CHANGE);
	assert_int_equal(listener->unacked[0], 1);
	/* The next call acks it. */
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), 0);
	assert_null(listener->pub.event);
	assert_int_equal(listener->unacked[0], 1);
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

/* ASan takes what the cancelled calls left on the stack for poisoned still. */
#ifndef __SANITIZE_ADDRESS__
static void *get_request(void *listener)
{
	struct rdma_cm_id *id;

	rdma_get_request(listener, &id);
	return NULL;
}

static void test_get_request_that_is_cancelled_holds_nothing(void **state)
{
	struct rcm_id *listener = rcm_world_sync_id(RDMA_PS_TCP);
	unsigned refs = listener->channel->refs, id_refs = listener->entry.refs;
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, get_request, &listener->pub), 0);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(listener->channel->refs, refs);
	assert_int_equal(listener->entry.refs, id_refs);
	rcm_id_destroy(listener);
}
#endif

static struct rcm_id *listening_endpoint(struct ibv_qp_init_attr *attr)
{
	struct sockaddr_in src = { .sin_family = AF_INET };
	const struct rdma_addrinfo info = {
		.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC,
		.ai_src_addr = (struct sockaddr *)&src, .ai_src_len = sizeof(src),
	};
	struct rcm_id *id;

	assert_int_equal(rcm_ep_new(&info, NULL, attr, &id), 0);
	assert_int_equal(rcm_listen(id, 1), 0);
	return id;
}

static void test_get_request_of_endpoint_has_a_queue_pair(void **state)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_context = &attr };
	struct rcm_id *listener = listening_endpoint(&attr), *id;

	(void)state;
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), 0);
	assert_non_null(id->pub.qp);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_INIT);
	/* As the endpoint was told to. */
	assert_ptr_equal(id->pub.qp->qp_context, &attr);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

/* The command before this one, whatever it was, if it was REJECT. */
static void check_reject(uint32_t command)
{
	struct rdma_ucm_reject reject;

	if (command != RDMA_USER_CM_CMD_DESTROY_ID ||
	    rcm_fake_ucma_last_body(&reject, sizeof(reject)) != sizeof(reject))
		return;
	assert_int_equal(reject.reason, 0);
	assert_int_equal(reject.private_data_len, 0);
}

static void test_get_request_without_queue_pair_is_rejected(void **state)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct rcm_id *listener = listening_endpoint(&attr), *id = NULL;
	unsigned rejects = rcm_fake_ucma_count(RDMA_USER_CM_CMD_REJECT);

	(void)state;
	rcm_fake_verbs_fail(FAKE_CREATE_QP, ENOMEM);
	rcm_fake_ucma_connect_request(listener->handle, NULL);
	rcm_fake_ucma_before(check_reject);
	assert_int_equal(rcm_listen_get_request(listener, PTHREAD_CANCEL_DISABLE, &id), -ENOMEM);
	assert_null(id);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_REJECT), rejects + 1);
	assert_int_equal(rcm_fake_ucma_ids(), 1);
	rcm_id_destroy(listener);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_listen_learns_the_port_it_got),
		T(test_request_is_a_new_id_on_the_listeners_channel),
		T(test_request_not_taken_goes_with_its_listener),
		T(test_request_for_nobody_is_left_by_a_late_reader_to_who_closes_the_channel),
		T(test_request_on_device_that_cannot_be_opened_is_dropped),
		T(test_request_waits_for_its_ack_when_the_listener_is_destroyed),
		T(test_get_request_gives_a_synchronous_id_with_its_event),
		T(test_get_request_looks_for_events_once_and_moves_the_id_once),
		T(test_channel_without_a_request_is_looked_at_once),
		T(test_request_that_cannot_be_moved_is_dropped),
		T(test_get_request_of_asynchronous_listener_is_refused),
		T(test_get_request_honours_o_nonblock),
		T(test_get_request_leaves_another_event_with_the_listener),
#ifndef __SANITIZE_ADDRESS__
		T(test_get_request_that_is_cancelled_holds_nothing),
#endif
		T(test_get_request_of_endpoint_has_a_queue_pair),
		T(test_get_request_without_queue_pair_is_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
