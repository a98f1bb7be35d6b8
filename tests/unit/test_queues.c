/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, shared receive queues and completion queues of an id. */
#include "cm/queues.h"

#include <errno.h>

#include "cm/life.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static void test_qp_gets_completion_queues_of_the_ids_own(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4, .max_recv_wr = 8 },
	};

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_ptr_equal(attr.send_cq, id->pub.send_cq);
	assert_ptr_equal(attr.recv_cq, id->pub.recv_cq);
	assert_int_equal(id->pub.send_cq->cqe, 4);
	assert_int_equal(id->pub.recv_cq->cqe, 8);
	assert_ptr_equal(id->pub.send_cq->cq_context, &id->pub);
	assert_ptr_equal(id->pub.send_cq->channel, id->pub.send_cq_channel);
	assert_ptr_equal(id->pub.qp->pd, id->pub.pd);
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_INIT);
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	rcm_queues_destroy_qp(id);
	assert_null(id->pub.qp);
	assert_null(id->pub.send_cq);
	assert_null(id->pub.recv_cq_channel);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static void test_qp_uses_the_callers_queues_and_domain(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_pd *pd = ibv_alloc_pd(id->pub.verbs), *shared = id->pub.pd;
	struct ibv_cq *cq = ibv_create_cq(id->pub.verbs, 3, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_null(id->pub.send_cq);
	assert_ptr_equal(id->pub.qp->send_cq, cq);
	assert_ptr_equal(id->pub.pd, pd);
	rcm_queues_destroy_qp(id);
	assert_ptr_equal(id->pub.pd, shared);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rcm_id_destroy(id);
}

static void test_qp_of_another_devices_domain_is_refused(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_pd foreign = { 0 };
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = &foreign };
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = &foreign };

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	assert_int_equal(rcm_queues_create_srq(id, &srq), -EINVAL);
	rcm_id_destroy(id);
}

static void test_qp_of_unbound_id_is_refused(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr_ex srq = { 0 };
	struct rcm_id *id;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	assert_int_equal(rcm_queues_create_srq(id, &srq), -EINVAL);
	rcm_id_destroy(id);
}

static void test_qp_that_fails_at_any_step_leaves_nothing(void **state)
{
	static const enum fake_verbs_call calls[] = {
		FAKE_CREATE_CHANNEL, FAKE_CREATE_CQ, FAKE_CREATE_QP, FAKE_MODIFY_QP
	};
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	unsigned objects = rcm_fake_verbs_objects();

	(void)state;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

		rcm_fake_verbs_fail(calls[i], ENOMEM);
		assert_int_equal(rcm_queues_create_qp(id, &attr), -ENOMEM);
		rcm_fake_verbs_fail(calls[i], 0);
		assert_null(id->pub.qp);
		assert_null(id->pub.send_cq);
		assert_int_equal(rcm_fake_verbs_objects(), objects);
	}
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_INIT_QP_ATTR), EINVAL);
	assert_int_equal(rcm_queues_create_qp(id, &(struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC }), -EINVAL);
	assert_int_equal(rcm_fake_verbs_objects(), objects);
	rcm_id_destroy(id);
}

static void test_qp_of_datagrams_can_send_at_once(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);

	(void)state;
	assert_int_equal(rcm_fake_verbs_state(id->pub.qp), IBV_QPS_RTS);
	assert_int_equal(rcm_fake_verbs_last_mask, IBV_QP_STATE | IBV_QP_SQ_PSN);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static void test_srq_is_used_by_the_qp(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr_ex srq = { .attr = { .max_wr = 8 } };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

	(void)state;
	assert_int_equal(rcm_queues_create_srq(id, &srq), 0);
	assert_int_equal(rcm_queues_create_srq(id, &srq), -EINVAL);
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_ptr_equal(id->pub.qp->srq, id->pub.srq);
	rcm_queues_destroy_qp(id);
	rcm_queues_destroy_srq(id);
	rcm_queues_destroy_srq(id);
	assert_null(id->pub.srq);
	rcm_id_destroy(id);
}

static void test_srq_of_xrc_has_domain_and_completion_queue(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr_ex srq = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .srq_type = IBV_SRQT_XRC, .attr = { .max_wr = 8 },
	};

	(void)state;
	assert_int_equal(rcm_queues_create_srq(id, &srq), 0);
	assert_non_null(srq.xrcd);
	assert_ptr_equal(srq.cq, id->pub.recv_cq);
	assert_int_equal(id->pub.recv_cq->cqe, 8);
	rcm_queues_destroy_srq(id);
	assert_null(id->pub.recv_cq);
	rcm_id_destroy(id);
}

static void test_qp_of_xrc_receiver_is_in_the_devices_domain(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV };

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_true(attr.comp_mask & IBV_QP_INIT_ATTR_XRCD);
	assert_non_null(attr.xrcd);
	assert_null(id->pub.send_cq);
	assert_null(id->pub.recv_cq);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static void test_init_attr_asks_for_the_state_that_is_given(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask = 0;

	(void)state;
	assert_int_equal(rcm_queues_init_attr(id, &attr, &mask), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(mask, IBV_QP_STATE);
	assert_int_equal(rcm_world_last(rdma_ucm_init_qp_attr).qp_state, IBV_QPS_RTR);
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_qp_gets_completion_queues_of_the_ids_own),
		T(test_qp_uses_the_callers_queues_and_domain),
		T(test_qp_of_another_devices_domain_is_refused),
		T(test_qp_of_unbound_id_is_refused),
		T(test_qp_that_fails_at_any_step_leaves_nothing),
		T(test_qp_of_datagrams_can_send_at_once),
		T(test_srq_is_used_by_the_qp),
		T(test_srq_of_xrc_has_domain_and_completion_queue),
		T(test_qp_of_xrc_receiver_is_in_the_devices_domain),
		T(test_init_attr_asks_for_the_state_that_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
