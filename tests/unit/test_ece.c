/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment. */
#include "cm/ece.h"

#include <errno.h>

#include "cm/conn.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static void test_local_options_are_offered_without_queue_pair(void **state)
{
	const struct ibv_ece ece = { .vendor_id = 7, .options = 9 };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_ece_set_local(id, &ece), 0);
	assert_int_equal(rcm_conn_connect(id, &(struct rdma_conn_param){ .qp_num = 1 }), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).ece.vendor_id, 7);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).ece.attr_mod, 9);
	rcm_id_destroy(id);
}

static void test_remote_options_come_with_the_response(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct rdma_ucm_event_resp raw = {
		.uid = id->entry.uid, .id = id->handle, .event = RDMA_CM_EVENT_CONNECT_RESPONSE, .ece = { 3, 4 },
	};
	struct ibv_ece ece = { 0 };

	(void)state;
	rcm_fake_ucma_event(rcm_world_channel->ucma.fd, &raw);
	rcm_world_ack(rcm_world_take(RDMA_CM_EVENT_CONNECT_RESPONSE));
	assert_int_equal(rcm_ece_get_remote(id, &ece), 0);
	assert_int_equal(ece.vendor_id, 3);
	assert_int_equal(ece.options, 4);
	rcm_id_destroy(id);
}

static void test_options_of_id_with_queue_pair_are_the_librarys(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	struct ibv_ece ece = { .vendor_id = 7 };

	(void)state;
	assert_int_equal(rcm_ece_set_local(id, &ece), -EINVAL);
	assert_int_equal(rcm_ece_get_remote(id, &ece), -EINVAL);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static void test_local_options_without_vendor_or_with_mask_are_refused(void **state)
{
	const struct ibv_ece none = { .options = 9 }, masked = { .vendor_id = 7, .comp_mask = 1 };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_ece_set_local(id, &none), -EINVAL);
	assert_int_equal(rcm_ece_set_local(id, &masked), -EINVAL);
	assert_int_equal(rcm_conn_connect(id, &(struct rdma_conn_param){ .qp_num = 1 }), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).ece.vendor_id, 0);
	rcm_id_destroy(id);
}

/* ---- The server's side: what the REQ had, what the QP is given, what the REP says ---- */

static void end(struct rcm_id *id)
{
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static struct rcm_id *asked_with(struct rcm_id *listener, struct rcm_ucma_ece ece)
{
	struct rdma_cm_event *event;
	struct rcm_id *id;

	rcm_fake_ucma_connect_request_ece(listener->handle, ece.vendor_id, ece.attr_mod);
	event = rcm_world_take(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = rcm_id_of(event->id);
	rcm_world_ack(event);
	return id;
}

/* How often the QP was given options; what the REP says. */
static unsigned accept_with_qp(struct rcm_ucma_ece asked, struct rcm_ucma_ece *ret_answer)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = asked_with(listener, asked);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	unsigned eces = rcm_fake_verbs_eces();
	struct rdma_ucm_accept sent;

	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_int_equal(rcm_conn_accept(id, NULL), 0);
	sent = rcm_world_last(rdma_ucm_accept);
	*ret_answer = (struct rcm_ucma_ece){ sent.ece.vendor_id, sent.ece.attr_mod };
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_RTS);
	end(id);
	rcm_id_destroy(listener);
	return rcm_fake_verbs_eces() - eces;
}

static void test_request_without_options_is_answered_without_vendor(void **state)
{
	struct rcm_ucma_ece answer;

	(void)state;
	assert_int_equal(accept_with_qp((struct rcm_ucma_ece){ 0 }, &answer), 0);
	assert_int_equal(answer.vendor_id, 0);
	assert_int_equal(answer.attr_mod, 0);
}

static void test_request_of_same_vendor_is_answered_with_what_both_have(void **state)
{
	struct rcm_ucma_ece answer;

	(void)state;
	rcm_fake_verbs_ece(0x2c9, 3);
	assert_int_equal(accept_with_qp((struct rcm_ucma_ece){ 0x2c9, 6 }, &answer), 1);
	assert_int_equal(rcm_fake_verbs_last_ece.vendor_id, 0x2c9);
	assert_int_equal(rcm_fake_verbs_last_ece.options, 6);
	assert_int_equal(answer.vendor_id, 0x2c9);
	assert_int_equal(answer.attr_mod, 2);
}

/* The device would refuse the other's options; the client would refuse the other's vendor. */
static void test_request_of_another_vendor_is_answered_with_its_vendor_and_no_options(void **state)
{
	struct rcm_ucma_ece answer;

	(void)state;
	assert_int_equal(accept_with_qp((struct rcm_ucma_ece){ 0x10df, 6 }, &answer), 1);
	assert_int_equal(rcm_fake_verbs_last_ece.vendor_id, 0x2c9);
	assert_int_equal(rcm_fake_verbs_last_ece.options, 0);
	assert_int_equal(answer.vendor_id, 0x10df);
	assert_int_equal(answer.attr_mod, 0);
}

static void test_request_to_device_without_options_is_answered_with_its_vendor(void **state)
{
	struct rcm_ucma_ece answer;

	(void)state;
	rcm_fake_verbs_ece(0, 0);
	accept_with_qp((struct rcm_ucma_ece){ 0x10df, 6 }, &answer);
	assert_int_equal(answer.vendor_id, 0x10df);
	assert_int_equal(answer.attr_mod, 0);
}

static void test_request_to_id_without_queue_pair_is_answered_with_its_vendor(void **state)
{
	static const struct rcm_ucma_ece asked[] = { { 0, 0 }, { 0x10df, 6 }, { 0x2c9, 6 } };
	const struct ibv_ece local = { .vendor_id = 0x2c9, .options = 5 };
	const struct rdma_conn_param param = { .qp_num = 9 };
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	for (unsigned i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct rcm_id *id = asked_with(listener, asked[i]);

		assert_int_equal(rcm_ece_set_local(id, &local), 0);
		assert_int_equal(rcm_conn_accept(id, &param), 0);
		assert_int_equal(rcm_world_last(rdma_ucm_accept).ece.vendor_id, asked[i].vendor_id);
		assert_int_equal(rcm_world_last(rdma_ucm_accept).ece.attr_mod, asked[i].vendor_id ? 5 : 0);
		rcm_id_destroy(id);
	}
	rcm_id_destroy(listener);
}

static void test_accept_that_device_has_no_options_for_leaves_qp_as_it_was(void **state)
{
	struct rcm_id *listener = rcm_world_id(RDMA_PS_TCP), *id = asked_with(listener, (struct rcm_ucma_ece){ 0x2c9, 1 });
	static const enum fake_verbs_call calls[] = { FAKE_QUERY_ECE, FAKE_SET_ECE };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	unsigned accepts = rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT);

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		rcm_fake_verbs_fail(calls[i], EIO);
		assert_int_equal(rcm_conn_accept(id, NULL), -EIO);
		assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_INIT);
		rcm_fake_verbs_fail(calls[i], 0);
	}
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_ACCEPT), accepts);
	end(id);
	rcm_id_destroy(listener);
}

/* ---- The client's: what the REP has, what the QP is given, what the application sees ---- */

static unsigned answered_with(struct rcm_ucma_ece answer, enum rdma_cm_event_type wanted, int status)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_TCP);
	struct rdma_ucm_event_resp raw = {
		.uid = id->entry.uid, .id = id->handle, .event = RDMA_CM_EVENT_CONNECT_RESPONSE,
		.ece = { answer.vendor_id, answer.attr_mod },
	};
	unsigned eces = rcm_fake_verbs_eces();
	struct rdma_cm_event *event;

	rcm_fake_ucma_event(rcm_world_channel->ucma.fd, &raw);
	event = rcm_world_take(wanted);
	assert_int_equal(event->status, status);
	rcm_world_ack(event);
	end(id);
	return rcm_fake_verbs_eces() - eces;
}

static void test_response_of_same_vendor_gives_the_queue_pair_its_options(void **state)
{
	(void)state;
	assert_int_equal(answered_with((struct rcm_ucma_ece){ 0x2c9, 2 }, RDMA_CM_EVENT_ESTABLISHED, 0), 1);
	assert_int_equal(rcm_fake_verbs_last_ece.vendor_id, 0x2c9);
	assert_int_equal(rcm_fake_verbs_last_ece.options, 2);
}

static void test_response_without_vendor_leaves_the_queue_pair_no_options(void **state)
{
	(void)state;
	assert_int_equal(answered_with((struct rcm_ucma_ece){ 0, 3 }, RDMA_CM_EVENT_ESTABLISHED, 0), 1);
	assert_int_equal(rcm_fake_verbs_last_ece.vendor_id, 0x2c9);
	assert_int_equal(rcm_fake_verbs_last_ece.options, 0);
}

static void test_response_to_device_without_options_establishes(void **state)
{
	(void)state;
	rcm_fake_verbs_ece(0, 0);
	answered_with((struct rcm_ucma_ece){ 0, 0 }, RDMA_CM_EVENT_ESTABLISHED, 0);
}

static void test_response_of_another_vendor_is_a_connect_error(void **state)
{
	(void)state;
	assert_int_equal(answered_with((struct rcm_ucma_ece){ 0x10df, 0 }, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL), 0);
	rcm_fake_verbs_ece(0, 0);
	assert_int_equal(answered_with((struct rcm_ucma_ece){ 0x10df, 0 }, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_local_options_are_offered_without_queue_pair),
		T(test_remote_options_come_with_the_response),
		T(test_options_of_id_with_queue_pair_are_the_librarys),
		T(test_local_options_without_vendor_or_with_mask_are_refused),
		T(test_request_without_options_is_answered_without_vendor),
		T(test_request_of_same_vendor_is_answered_with_what_both_have),
		T(test_request_of_another_vendor_is_answered_with_its_vendor_and_no_options),
		T(test_request_to_device_without_options_is_answered_with_its_vendor),
		T(test_request_to_id_without_queue_pair_is_answered_with_its_vendor),
		T(test_accept_that_device_has_no_options_for_leaves_qp_as_it_was),
		T(test_response_of_same_vendor_gives_the_queue_pair_its_options),
		T(test_response_without_vendor_leaves_the_queue_pair_no_options),
		T(test_response_to_device_without_options_establishes),
		T(test_response_of_another_vendor_is_a_connect_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
