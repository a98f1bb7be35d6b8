/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: what is asked of the kernel, what the queue pair goes through, what the application sees. */
#include "cm/attach.h"
#include "cm/conn.h"

#include <errno.h>
#include <fcntl.h>

#include "cm/life.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static void end(struct rcm_id *id)
{
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

/* ---- Asking ---- */

static void test_connect_without_parameters_asks_for_the_most(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	struct rdma_ucm_connect sent;

	(void)state;
	assert_int_equal(rcm_conn_connect(id, NULL), 0);
	sent = rcm_world_last(rdma_ucm_connect);
	assert_int_equal(sent.id, id->handle);
	assert_int_equal(sent.conn_param.qp_num, id->pub.qp->qp_num);
	assert_int_equal(sent.conn_param.responder_resources, 16);
	assert_int_equal(sent.conn_param.initiator_depth, 32);
	assert_int_equal(sent.conn_param.retry_count, 7);
	assert_int_equal(sent.conn_param.rnr_retry_count, 7);
	assert_int_equal(sent.conn_param.flow_control, 0);
	assert_int_equal(sent.ece.vendor_id, 0x2c9);
	end(id);
}

static void test_connect_255_means_what_the_device_can_do(void **state)
{
	const struct rdma_conn_param param = {
		.responder_resources = RDMA_MAX_RESP_RES, .initiator_depth = RDMA_MAX_INIT_DEPTH, .qp_num = 5, .srq = 1,
	};
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct rdma_ucm_connect sent;

	(void)state;
	assert_int_equal(rcm_conn_connect(id, &param), 0);
	sent = rcm_world_last(rdma_ucm_connect);
	assert_int_equal(sent.conn_param.responder_resources, 16);
	assert_int_equal(sent.conn_param.initiator_depth, 32);
	/* Without a QP the caller's is named. */
	assert_int_equal(sent.conn_param.qp_num, 5);
	assert_int_equal(sent.conn_param.srq, 1);
	rcm_id_destroy(id);
}

static void test_connect_beyond_the_device_is_refused(void **state)
{
	const struct rdma_conn_param resources = { .responder_resources = 17 }, depth = { .initiator_depth = 33 };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_conn_connect(id, &resources), -EINVAL);
	assert_int_equal(rcm_conn_connect(id, &depth), -EINVAL);
	assert_int_equal(rcm_conn_accept(id, &depth), -EINVAL);
	rcm_id_destroy(id);
}

/* Of another port space than TCP's the kernel takes what fits. */
static void test_connect_beyond_the_device_is_the_kernels_to_judge_of_port_space_ib(void **state)
{
	const struct rdma_conn_param param = { .responder_resources = 200, .initiator_depth = RDMA_MAX_INIT_DEPTH };
	struct rcm_id *id = rcm_world_id(RDMA_PS_IB);

	(void)state;
	assert_int_equal(rcm_conn_connect(id, &param), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).conn_param.responder_resources, 200);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).conn_param.initiator_depth, 32);
	rcm_id_destroy(id);
}

static void test_connect_with_neither_queue_pair_nor_parameters_is_refused(void **state)
{
	struct rcm_id *tcp = rcm_world_id(RDMA_PS_TCP), *ib = rcm_world_id(RDMA_PS_IB);
	unsigned connects = rcm_fake_ucma_count(RDMA_USER_CM_CMD_CONNECT);

	(void)state;
	assert_int_equal(rcm_conn_connect(tcp, NULL), -EINVAL);
	assert_int_equal(rcm_conn_accept(tcp, NULL), -EINVAL);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_CONNECT), connects);
	assert_int_equal(rcm_conn_connect(ib, NULL), 0);
	rcm_id_destroy(tcp);
	rcm_id_destroy(ib);
}

static void test_connect_of_datagrams_needs_no_depths(void **state)
{
	const struct rdma_conn_param param = { .responder_resources = 200, .private_data = "x", .private_data_len = 1 };
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);

	(void)state;
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_RTS);
	assert_int_equal(rcm_conn_connect(id, &param), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).conn_param.qp_num, id->pub.qp->qp_num);
	end(id);
}

/* ---- The peer's answer ---- */

static void test_response_with_qp_ends_the_handshake(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	unsigned accepts = rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT);
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_INIT);
	assert_int_equal(rcm_conn_connect(id, NULL), 0);
	event = rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(event->status, 0);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_RTS);
	/* As negotiated: the kernel's numbers are not replaced. */
	for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		assert_int_equal(rcm_fake_verbs_attr_to[to].max_rd_atomic, 1);
		assert_int_equal(rcm_fake_verbs_attr_to[to].max_dest_rd_atomic, 2);
	}
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT), accepts + 1);
	assert_int_equal(rcm_world_last(rdma_ucm_accept).conn_param.valid, 0);
	rcm_world_ack(event);
	end(id);
}

static void test_response_without_qp_is_the_applications_to_establish(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	unsigned accepts = rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT);

	(void)state;
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_CONNECT_RESPONSE));
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT), accepts);
	assert_int_equal(rcm_conn_establish(id), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_accept).conn_param.valid, 0);
	rcm_id_destroy(id);
}

static void test_establish_with_qp_is_refused(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_conn_establish(id), -EINVAL);
	end(id);
}

static void test_response_that_qp_cannot_follow_is_one_connect_error(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	unsigned rejects = rcm_fake_ucma_count(RDMA_USER_CM_CMD_REJECT);
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, ENOMEM);
	event = rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_CONNECT_ERROR);
	assert_int_equal(event->status, -ENOMEM);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_REJECT), rejects + 1);
	assert_int_equal(rcm_world_last(rdma_ucm_reject).reason, 0);
	assert_int_equal(rcm_world_last(rdma_ucm_reject).private_data_len, 0);
	rcm_world_ack(event);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, 0);
	/* The application knows: what the kernel tells of the same end is not delivered. */
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_REJECTED, 28);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_DISCONNECTED, 0);
	rcm_world_expect_quiet();
	end(id);
}

static void test_response_that_kernel_does_not_confirm_is_a_connect_error(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_ACCEPT), ETIMEDOUT);
	event = rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, RDMA_CM_EVENT_CONNECT_ERROR);
	assert_int_equal(event->status, -ETIMEDOUT);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_ERR);
	rcm_world_ack(event);
	end(id);
}

static void test_rejected_moves_qp_to_error_and_keeps_reason(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	struct rdma_ucm_event_resp raw = {
		.uid = id->entry.uid, .id = id->handle, .event = RDMA_CM_EVENT_REJECTED, .status = 28,
		.param.conn = { .private_data = "no", .private_data_len = 148 },
	};
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_ucma_event(rcm_world_channel->ucma.fd, &raw);
	event = rcm_world_take(RDMA_CM_EVENT_REJECTED);
	assert_int_equal(event->status, 28);
	assert_int_equal(event->param.conn.private_data_len, 148);
	assert_string_equal(event->param.conn.private_data, "no");
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_ERR);
	rcm_world_ack(event);
	end(id);
}

/* ---- Answering ---- */

static struct rcm_id *requested(const struct rdma_ucm_conn_param *param, struct rcm_id *listener)
{
	struct rdma_cm_event *event;
	struct rcm_id *id;

	rcm_fake_ucma_connect_request(listener->handle, param);
	event = rcm_world_take(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = rcm_id_of(event->id);
	rcm_world_ack(event);
	return id;
}

static void test_id_without_a_device_has_no_depths(void **state)
{
	struct rcm_depths depths;
	struct rcm_id *id;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	depths = rcm_attach_depths(id);
	assert_int_equal(depths.responder_resources, 0);
	assert_int_equal(depths.initiator_depth, 0);
	rcm_id_destroy(id);
}

static void test_accept_of_datagrams_has_no_ece(void **state)
{
	const struct rdma_conn_param param = { .qp_num = 7 };
	struct rcm_id *id = rcm_world_id(RDMA_PS_UDP);
	struct rdma_ucm_accept sent;

	(void)state;
	assert_int_equal(rcm_conn_accept(id, &param), 0);
	sent = rcm_world_last(rdma_ucm_accept);
	assert_int_equal(sent.ece.vendor_id, 0);
	assert_int_equal(sent.ece.attr_mod, 0);
	assert_int_equal(sent.conn_param.qp_num, 7);
	rcm_id_destroy(id);
}

static void test_accept_without_parameters_answers_what_was_asked(void **state)
{
	const struct rdma_ucm_conn_param asked = { .responder_resources = 3, .initiator_depth = 200 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(&asked, listener);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	struct rdma_ucm_accept sent;

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_int_equal(rcm_conn_accept(id, NULL), 0);
	sent = rcm_world_last(rdma_ucm_accept);
	assert_int_equal(sent.id, id->handle);
	assert_true(sent.uid == id->entry.uid);
	assert_int_equal(sent.conn_param.valid, 1);
	assert_int_equal(sent.conn_param.responder_resources, 3);
	assert_int_equal(sent.conn_param.initiator_depth, 32);
	assert_int_equal(sent.conn_param.qp_num, id->pub.qp->qp_num);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_RTS);
	/* Each depth in the step that it belongs to; elsewhere the kernel's numbers stay. */
	for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		assert_int_equal(rcm_fake_verbs_attr_to[to].max_rd_atomic, to == IBV_QPS_RTS ? 32 : 1);
		assert_int_equal(rcm_fake_verbs_attr_to[to].max_dest_rd_atomic, to == IBV_QPS_RTR ? 3 : 2);
	}
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, RDMA_CM_EVENT_ESTABLISHED));
	end(id);
	rcm_id_destroy(listener);
}

/* What the caller leaves open is as it was asked for, each by itself. */
static void test_accept_with_one_depth_takes_the_other_from_the_request(void **state)
{
	static const struct { uint8_t given[2], sent[2]; } cases[] = {
		{ { RDMA_MAX_RESP_RES, 2 }, { 3, 2 } }, { { 1, RDMA_MAX_INIT_DEPTH }, { 1, 4 } }, { { 1, 2 }, { 1, 2 } },
		{ { RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH }, { 3, 4 } }, { { 16, 32 }, { 16, 32 } },
	};
	const struct rdma_ucm_conn_param asked = { .responder_resources = 3, .initiator_depth = 4 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(&asked, listener);

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct rdma_conn_param param = {
			.responder_resources = cases[i].given[0], .initiator_depth = cases[i].given[1],
		};
		struct rdma_ucm_accept sent;

		assert_int_equal(rcm_conn_accept(id, &param), 0);
		sent = rcm_world_last(rdma_ucm_accept);
		assert_int_equal(sent.conn_param.responder_resources, cases[i].sent[0]);
		assert_int_equal(sent.conn_param.initiator_depth, cases[i].sent[1]);
	}
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

static void test_connect_names_the_queue_pair_that_the_id_has_and_whether_it_shares_receives(void **state)
{
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .attr = { .max_wr = 8 } };
	struct rdma_conn_param param = { .qp_num = 0x999 };
	struct rdma_ucm_connect sent;

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
		struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

		if (shared)
			assert_int_equal(rcm_queues_create_srq(id, &srq), 0);
		assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
		param.srq = !shared;
		assert_int_equal(rcm_conn_connect(id, &param), 0);
		sent = rcm_world_last(rdma_ucm_connect);
		assert_int_equal(sent.conn_param.srq, shared);
		assert_int_equal(sent.conn_param.qp_num, id->pub.qp->qp_num);
		rcm_queues_destroy_qp(id);
		rcm_queues_destroy_srq(id);
		rcm_id_destroy(id);
	}
}

/* The end of a handshake has no parameters, and no options. */
static void test_establish_and_an_answered_response_say_no_more_than_that(void **state)
{
	static const struct rdma_ucm_conn_param none;

	(void)state;
	for (int with_qp = 0; with_qp < 2; with_qp++) {
		struct rcm_id *id = with_qp ? rcm_world_id_with_qp(RDMA_PS_TCP) : rcm_world_id(RDMA_PS_TCP);
		struct rdma_ucm_accept sent;

		rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, with_qp ?
					      RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE));
		assert_int_equal(rcm_conn_establish(id), with_qp ? -EINVAL : 0);
		sent = rcm_world_last(rdma_ucm_accept);
		assert_int_equal(sent.id, id->handle);
		assert_memory_equal(&sent.conn_param, &none, sizeof(none));
		assert_int_equal(sent.ece.vendor_id, 0);
		assert_int_equal(sent.ece.attr_mod, 0);
		end(id);
	}
}

static void test_accept_of_no_reads_has_none_in_either_step(void **state)
{
	const struct rdma_ucm_conn_param asked = { .responder_resources = 3, .initiator_depth = 3 };
	const struct rdma_conn_param none = { 0 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(&asked, listener);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_int_equal(rcm_conn_accept(id, &none), 0);
	assert_int_equal(rcm_fake_verbs_attr_to[IBV_QPS_RTR].max_dest_rd_atomic, 0);
	assert_int_equal(rcm_fake_verbs_attr_to[IBV_QPS_RTS].max_rd_atomic, 0);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, RDMA_CM_EVENT_ESTABLISHED));
	end(id);
	rcm_id_destroy(listener);
}

static void test_accept_that_fails_leaves_qp_in_error(void **state)
{
	const struct rdma_ucm_conn_param asked = { .responder_resources = 1 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(&asked, listener);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_ACCEPT), EINVAL);
	assert_int_equal(rcm_conn_accept(id, NULL), -EINVAL);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_ERR);
	end(id);
	rcm_id_destroy(listener);
}

static void test_accept_that_cannot_move_the_qp_leaves_it_as_it_was(void **state)
{
	const struct rdma_ucm_conn_param asked = { .responder_resources = 1 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(&asked, listener);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	unsigned accepts = rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT);

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_INIT_QP_ATTR), EINVAL);
	assert_int_equal(rcm_conn_accept(id, NULL), -EINVAL);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_INIT);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT), accepts);
	end(id);
	rcm_id_destroy(listener);
}

static void test_reject_sends_reason_and_data(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = requested(NULL, listener);
	struct rdma_ucm_reject sent;

	(void)state;
	assert_int_equal(rcm_conn_reject(id, 28, "full", 4), 0);
	sent = rcm_world_last(rdma_ucm_reject);
	assert_int_equal(sent.reason, 28);
	assert_int_equal(sent.private_data_len, 4);
	assert_memory_equal(sent.private_data, "full", 4);
	rcm_id_destroy(id);
	rcm_id_destroy(listener);
}

/* ---- The end ---- */

static void test_disconnect_moves_qp_to_error_first(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	unsigned before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_DISCONNECT);

	(void)state;
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, EIO);
	assert_int_equal(rcm_conn_disconnect(id), -EIO);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DISCONNECT), before);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, 0);
	assert_int_equal(rcm_conn_disconnect(id), 0);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_ERR);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_DISCONNECT), before + 1);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_DISCONNECTED, 0, RDMA_CM_EVENT_DISCONNECTED));
	end(id);
}

/* To ERR it would be a reset, and what is under way lost. */
static void test_disconnect_of_iwarp_drains_the_queue_pair(void **state)
{
	struct rcm_id *id;

	(void)state;
	rcm_fake_verbs_iwarp();
	id = rcm_world_id_with_qp(RDMA_PS_TCP);
	assert_int_equal(rcm_conn_disconnect(id), 0);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_SQD);
	assert_int_equal(rcm_fake_verbs_last_mask, IBV_QP_STATE);
	/* What was refused has nothing under way. */
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_REJECTED, 28, RDMA_CM_EVENT_REJECTED));
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_ERR);
	end(id);
}

static void test_notify_passes_the_event_on(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_conn_notify(id, IBV_EVENT_COMM_EST), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_notify).event, IBV_EVENT_COMM_EST);
	rcm_id_destroy(id);
}

/* F22: a removed device really goes when its last id does. */
static void test_removal_lets_the_device_go_with_its_last_id(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_fake_verbs_open_now(0), 1);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RDMA_CM_EVENT_DEVICE_REMOVAL));
	assert_int_equal(rcm_fake_verbs_open_now(0), 1);
	rcm_id_destroy(id);
	assert_int_equal(rcm_fake_verbs_open_now(0), 0);
}

static void test_every_other_event_is_delivered_as_it_is(void **state)
{
	static const struct { enum rdma_cm_event_type type; int status; } events[] = {
		{ RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT }, { RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL },
		{ RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT }, { RDMA_CM_EVENT_ADDR_CHANGE, 0 },
		{ RDMA_CM_EVENT_TIMEWAIT_EXIT, 0 }, { RDMA_CM_EVENT_ESTABLISHED, 0 },
	};
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct rdma_cm_event *event =
			rcm_world_event(id, events[i].type, events[i].status, events[i].type);

		assert_int_equal(event->status, events[i].status);
		rcm_world_ack(event);
	}
	rcm_id_destroy(id);
}

static void test_event_of_datagrams_has_the_peers_address(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_UDP);
	struct rdma_ucm_event_resp raw = {
		.uid = id->entry.uid, .id = id->handle, .event = RDMA_CM_EVENT_ESTABLISHED,
		.param.ud = { .qp_num = 77, .qkey = RDMA_UDP_QKEY, .ah_attr.dlid = 5 },
	};
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_ucma_event(rcm_world_channel->ucma.fd, &raw);
	event = rcm_world_take(RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(event->param.ud.qp_num, 77);
	assert_int_equal(event->param.ud.qkey, RDMA_UDP_QKEY);
	assert_int_equal(event->param.ud.ah_attr.dlid, 5);
	rcm_world_ack(event);
	rcm_id_destroy(id);
}

static void test_calls_without_kernel_are_enodev(void **state)
{
	const struct rdma_conn_param param = { .qp_num = 1 };
	struct rcm_channel *channel;
	struct rcm_id *id;

	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	assert_int_equal(rcm_channel_new(&channel), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	assert_int_equal(rcm_conn_connect(id, &param), -ENODEV);
	assert_int_equal(rcm_conn_accept(id, &param), -ENODEV);
	assert_int_equal(rcm_conn_establish(id), -ENODEV);
	assert_int_equal(rcm_conn_reject(id, 0, NULL, 0), -ENODEV);
	assert_int_equal(rcm_conn_disconnect(id), -ENODEV);
	assert_int_equal(rcm_conn_notify(id, IBV_EVENT_COMM_EST), -ENODEV);
	rcm_id_destroy(id);
	rcm_channel_close(channel);
}

/* Nothing comes any more that could be waited for; O_NONBLOCK tells, instead of a hang. */
static void test_disconnect_of_a_synchronous_id_waits_for_the_end(void **state)
{
	struct rcm_id *id = rcm_world_sync_id(RDMA_PS_TCP);

	(void)state;
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_int_equal(rcm_conn_complete_disconnect(id), 0);
	assert_non_null(id->pub.event);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_DISCONNECTED);
	rcm_id_destroy(id);
}

static void test_disconnect_after_the_end_was_delivered_waits_for_nothing(void **state)
{
	struct rcm_id *id = rcm_world_sync_id(RDMA_PS_TCP);

	(void)state;
	fcntl(id->pub.channel->fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(rcm_conn_complete_disconnect(id), -EAGAIN);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), -ECONNRESET);
	assert_int_equal(rcm_conn_complete_disconnect(id), 0);
	assert_null(id->pub.event);
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_connect_without_parameters_asks_for_the_most),
		T(test_connect_255_means_what_the_device_can_do),
		T(test_connect_beyond_the_device_is_refused),
		T(test_connect_beyond_the_device_is_the_kernels_to_judge_of_port_space_ib),
		T(test_connect_with_neither_queue_pair_nor_parameters_is_refused),
		T(test_connect_of_datagrams_needs_no_depths),
		T(test_response_with_qp_ends_the_handshake),
		T(test_response_without_qp_is_the_applications_to_establish),
		T(test_establish_with_qp_is_refused),
		T(test_response_that_qp_cannot_follow_is_one_connect_error),
		T(test_response_that_kernel_does_not_confirm_is_a_connect_error),
		T(test_rejected_moves_qp_to_error_and_keeps_reason),
		T(test_id_without_a_device_has_no_depths),
		T(test_accept_of_datagrams_has_no_ece),
		T(test_accept_without_parameters_answers_what_was_asked),
		T(test_accept_with_one_depth_takes_the_other_from_the_request),
		T(test_connect_names_the_queue_pair_that_the_id_has_and_whether_it_shares_receives),
		T(test_establish_and_an_answered_response_say_no_more_than_that),
		T(test_accept_of_no_reads_has_none_in_either_step),
		T(test_accept_that_fails_leaves_qp_in_error),
		T(test_accept_that_cannot_move_the_qp_leaves_it_as_it_was),
		T(test_reject_sends_reason_and_data),
		T(test_disconnect_moves_qp_to_error_first),
		T(test_disconnect_of_iwarp_drains_the_queue_pair),
		T(test_disconnect_of_a_synchronous_id_waits_for_the_end),
		T(test_disconnect_after_the_end_was_delivered_waits_for_nothing),
		T(test_notify_passes_the_event_on),
		T(test_removal_lets_the_device_go_with_its_last_id),
		T(test_every_other_event_is_delivered_as_it_is),
		T(test_event_of_datagrams_has_the_peers_address),
		T(test_calls_without_kernel_are_enodev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
