/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, shared receive queues and completion queues of an id. */
#include "cm/queues.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>

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
	struct ibv_pd *pd = ibv_alloc_pd(id->pub.verbs);
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
	/* The id stays in the domain that it was given. */
	assert_ptr_equal(id->pub.pd, pd);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rcm_id_destroy(id);
}

/* A bit says that the caller's counts; one that isn't there, or has no domain behind it, leaves the id's. */
static void test_queues_without_a_domain_of_the_callers_are_in_the_ids(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_pd foreign = { 0 }, *ids = id->pub.pd;

	(void)state;
	for (int bit = 0; bit < 2; bit++) {
		struct ibv_qp_init_attr_ex qp = {
			.qp_type = IBV_QPT_RC, .comp_mask = bit ? IBV_QP_INIT_ATTR_PD : 0, .pd = bit ? NULL : &foreign,
		};
		struct ibv_srq_init_attr_ex srq = {
			.attr = { .max_wr = 8 }, .srq_type = IBV_SRQT_BASIC, .pd = bit ? NULL : &foreign,
			.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | (bit ? IBV_SRQ_INIT_ATTR_PD : 0),
		};

		assert_int_equal(rcm_queues_create_qp(id, &qp), 0);
		assert_ptr_equal(id->pub.qp->pd, ids);
		rcm_queues_destroy_qp(id);
		assert_int_equal(rdma_create_srq_ex(&id->pub, &srq), 0);
		assert_ptr_equal(id->pub.srq->pd, ids);
		rdma_destroy_srq(&id->pub);
	}
	rcm_id_destroy(id);
}

static void test_qp_of_another_devices_domain_is_refused(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_pd foreign = { 0 };
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = &foreign };
	struct ibv_srq_init_attr_ex srq = {
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE, .pd = &foreign, .srq_type = IBV_SRQT_XRC,
	};

	(void)state;
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	assert_int_equal(rcm_queues_create_srq(id, &srq), -EINVAL);
	rcm_id_destroy(id);
}

static void test_qp_of_unbound_id_is_refused(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE };
	struct rcm_id *id;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	assert_int_equal(rcm_queues_create_srq(id, &srq), -EINVAL);
	rcm_id_destroy(id);
}

/* As a server does that shares one among the ids that it will bind. */
static void test_srq_of_unbound_id_is_made_in_the_callers_domain(void **state)
{
	struct rcm_id *bound = rcm_world_id(RDMA_PS_TCP), *id;
	struct ibv_pd *pd = ibv_alloc_pd(bound->pub.verbs);
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	assert_int_equal(rdma_create_srq(&id->pub, pd, &srq), 0);
	assert_ptr_equal(id->pub.srq->pd, pd);
	assert_ptr_equal(id->pub.pd, pd);
	rdma_destroy_srq(&id->pub);
	ibv_dealloc_pd(pd);
	rcm_id_destroy(id);
	rcm_id_destroy(bound);
}

/* The SRQ may have ended since, and the domain with it. */
static void test_id_that_gets_a_device_has_the_devices_domain_whatever_it_had(void **state)
{
	struct rcm_id *bound = rcm_world_id(RDMA_PS_TCP), *id;
	struct ibv_pd *pd = ibv_alloc_pd(bound->pub.verbs);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4, .max_recv_wr = 8 } };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };
	union rcm_sockaddr dst;

	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	assert_int_equal(rdma_create_srq(&id->pub, pd, &srq), 0);
	rdma_destroy_srq(&id->pub);
	ibv_dealloc_pd(pd);
	assert_int_equal(rcm_sockaddr_parse("192.0.2.2", AF_INET, &dst), 1);
	assert_int_equal(rdma_resolve_addr(&id->pub, NULL, &dst.sa, 2000), 0);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, RDMA_CM_EVENT_ADDR_RESOLVED));
	assert_ptr_equal(id->pub.pd, bound->pub.pd);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	rdma_destroy_qp(&id->pub);
	rcm_id_destroy(id);
	rcm_id_destroy(bound);
}

/* ---- Completion queues that the application put in the id ---- */

static void put_cqs(struct rcm_id *id, struct ibv_cq *send, struct ibv_cq *recv)
{
	id->pub.send_cq = send;
	id->pub.send_cq_channel = send->channel;
	id->pub.recv_cq = recv;
	id->pub.recv_cq_channel = recv->channel;
}

static struct ibv_cq *cq_of(struct rcm_id *id, struct ibv_comp_channel *channel)
{
	return ibv_create_cq(id->pub.verbs, 16, &id->pub, channel, 0);
}

static void test_one_completion_queue_in_both_places_ends_once(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	unsigned objects = rcm_fake_verbs_objects();
	struct ibv_cq *cq;

	(void)state;
	cq = cq_of(id, ibv_create_comp_channel(id->pub.verbs));
	put_cqs(id, cq, cq);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	rdma_destroy_qp(&id->pub);
	assert_null(id->pub.send_cq);
	assert_null(id->pub.recv_cq_channel);
	assert_int_equal(rcm_fake_verbs_objects(), objects);
	rcm_id_destroy(id);
}

static void test_two_completion_queues_of_one_channel_end_before_it(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	unsigned objects = rcm_fake_verbs_objects();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(id->pub.verbs);

	(void)state;
	put_cqs(id, cq_of(id, channel), cq_of(id, channel));
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	rdma_destroy_qp(&id->pub);
	assert_int_equal(rcm_fake_verbs_objects(), objects);
	rcm_id_destroy(id);
}

static void test_qp_of_other_completion_queues_than_the_ids_is_refused(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_cq *ids = cq_of(id, NULL), *other = cq_of(id, NULL);
	struct ibv_qp_init_attr send = { .qp_type = IBV_QPT_RC, .send_cq = other },
				recv = { .qp_type = IBV_QPT_RC, .recv_cq = other };

	(void)state;
	put_cqs(id, ids, ids);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &send), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &recv), -1);
	assert_ptr_equal(id->pub.send_cq, ids);
	send.send_cq = ids;
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &send), 0);
	ibv_destroy_cq(other);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

/* Its attributes are what it got, or stay what they were. */
static void test_qp_tells_its_attributes_where_it_was_made_alone(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	const struct ibv_qp_init_attr before = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4 } };
	struct ibv_qp_init_attr attr = before;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };

	(void)state;
	rcm_fake_verbs_fail(FAKE_CREATE_QP, ENOMEM);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), -1);
	assert_int_equal(errno, ENOMEM);
	assert_memory_equal(&attr, &before, sizeof(attr));
	rcm_fake_verbs_fail(FAKE_CREATE_QP, 0);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	assert_ptr_equal(attr.send_cq, id->pub.send_cq);
	assert_ptr_equal(attr.recv_cq, id->pub.recv_cq);
	rdma_destroy_qp(&id->pub);
	rcm_fake_verbs_fail(FAKE_CREATE_SRQ, ENOMEM);
	assert_int_equal(rdma_create_srq(&id->pub, NULL, &srq), -1);
	assert_int_equal(srq.attr.max_wr, 8);
	rcm_fake_verbs_fail(FAKE_CREATE_SRQ, 0);
	rcm_id_destroy(id);
}

static void test_queues_without_attributes_are_refused(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	(void)state;
	for (int i = 0; i < 6; i++) {
		int ret = i == 0 ? rdma_create_qp(&id->pub, NULL, NULL) : i == 1 ? rdma_create_qp_ex(&id->pub, NULL) :
			  i == 2 ? rdma_create_srq(&id->pub, NULL, NULL) : i == 3 ? rdma_create_srq_ex(&id->pub, NULL) :
			  i == 4 ? rdma_init_qp_attr(&id->pub, NULL, &mask) : rdma_init_qp_attr(&id->pub, &attr, NULL);

		assert_int_equal(ret, -1);
		assert_int_equal(errno, EINVAL);
		errno = 0;
	}
	rcm_id_destroy(id);
}

/* ---- Kinds ---- */

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
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .attr = { .max_wr = 8 } };
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

static void test_qp_with_srq_has_room_for_all_its_receives(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 100 } };
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4 } };

	(void)state;
	assert_int_equal(rdma_create_srq(&id->pub, NULL, &srq), 0);
	assert_int_equal(srq.attr.max_wr, 101);
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	assert_int_equal(id->pub.recv_cq->cqe, 101);
	rdma_destroy_qp(&id->pub);
	/* Who can't tell gets what was asked for. */
	rcm_fake_verbs_fail(FAKE_QUERY_SRQ, EOPNOTSUPP);
	attr = (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC };
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	assert_int_equal(id->pub.recv_cq->cqe, 1);
	rdma_destroy_qp(&id->pub);
	attr = (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC, .cap = { .max_recv_wr = 7 } };
	assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
	assert_int_equal(id->pub.recv_cq->cqe, 7);
	rdma_destroy_qp(&id->pub);
	rdma_destroy_srq(&id->pub);
	rcm_id_destroy(id);
}

static void test_srq_leaves_the_domain_that_the_id_has(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_pd *pd = ibv_alloc_pd(id->pub.verbs), *ids = id->pub.pd;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };

	(void)state;
	assert_int_equal(rdma_create_srq(&id->pub, pd, &srq), 0);
	assert_ptr_equal(id->pub.srq->pd, pd);
	assert_ptr_equal(id->pub.pd, ids);
	rdma_destroy_srq(&id->pub);
	assert_ptr_equal(id->pub.pd, ids);
	ibv_dealloc_pd(pd);
	rcm_id_destroy(id);
}

static void test_srq_without_type_is_refused(void **state)
{
	struct ibv_srq_init_attr_ex srq = { .attr = { .max_wr = 8 } };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rdma_create_srq_ex(&id->pub, &srq), -1);
	assert_int_equal(errno, EINVAL);
	rcm_id_destroy(id);
}

static void test_srq_of_xrc_receivers_id_is_an_xrc_one(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8 } };

	(void)state;
	id->pub.qp_type = IBV_QPT_XRC_RECV;
	assert_int_equal(rdma_create_srq(&id->pub, NULL, &attr), 0);
	assert_int_equal(rcm_fake_verbs_last_srq.srq_type, IBV_SRQT_XRC);
	assert_int_equal(rcm_fake_verbs_last_srq.comp_mask,
			 IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ);
	assert_non_null(rcm_fake_verbs_last_srq.xrcd);
	assert_ptr_equal(rcm_fake_verbs_last_srq.cq, id->pub.recv_cq);
	assert_int_equal(id->pub.recv_cq->cqe, 8);
	rdma_destroy_srq(&id->pub);
	assert_null(id->pub.recv_cq);
	id->pub.qp_type = IBV_QPT_XRC_SEND;
	assert_int_equal(rdma_create_srq(&id->pub, NULL, &attr), 0);
	assert_int_equal(rcm_fake_verbs_last_srq.srq_type, IBV_SRQT_BASIC);
	rdma_destroy_srq(&id->pub);
	rcm_id_destroy(id);
}

/* The SRQ's completion queue outlives the QP, the QP's the SRQ. */
static void test_completion_queue_of_xrc_srq_goes_with_the_last_that_uses_it(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC_RECV };

	(void)state;
	id->pub.qp_type = IBV_QPT_XRC_RECV;
	for (int round = 0; round < 2; round++) {
		assert_int_equal(rdma_create_srq(&id->pub, NULL, &srq), 0);
		assert_int_equal(rdma_create_qp(&id->pub, NULL, &attr), 0);
		(round ? rdma_destroy_srq : rdma_destroy_qp)(&id->pub);
		assert_non_null(id->pub.recv_cq);
		(round ? rdma_destroy_qp : rdma_destroy_srq)(&id->pub);
		assert_null(id->pub.recv_cq);
	}
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
	/* The id's type says so too, whatever the attributes say. */
	id->pub.qp_type = IBV_QPT_XRC_RECV;
	attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC };
	assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
	assert_int_equal(attr.comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

/* As with the other domain: a bit says that the caller's counts. */
static void test_qp_of_xrc_receiver_without_a_domain_of_the_callers_is_in_the_devices(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_xrcd callers = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct ibv_qp_init_attr_ex attr = {
			.qp_type = IBV_QPT_XRC_RECV, .comp_mask = i ? IBV_QP_INIT_ATTR_XRCD : 0,
			.xrcd = i == 1 ? NULL : &callers,
		};

		assert_int_equal(rcm_queues_create_qp(id, &attr), 0);
		assert_int_equal(attr.xrcd == &callers, i == 2);
		assert_non_null(attr.xrcd);
		assert_true(attr.comp_mask & IBV_QP_INIT_ATTR_XRCD);
		rcm_queues_destroy_qp(id);
	}
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

static void test_id_without_qp_has_none_to_set_or_close(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_false(rcm_queues_have_qp(id));
	assert_int_equal(rcm_queues_set_error(id), 0);
	assert_int_equal(rcm_queues_close(id), 0);
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_qp_gets_completion_queues_of_the_ids_own),
		T(test_qp_uses_the_callers_queues_and_domain),
		T(test_queues_without_a_domain_of_the_callers_are_in_the_ids),
		T(test_qp_of_another_devices_domain_is_refused),
		T(test_qp_of_unbound_id_is_refused),
		T(test_srq_of_unbound_id_is_made_in_the_callers_domain),
	T(test_id_that_gets_a_device_has_the_devices_domain_whatever_it_had),
		T(test_one_completion_queue_in_both_places_ends_once),
		T(test_two_completion_queues_of_one_channel_end_before_it),
		T(test_qp_of_other_completion_queues_than_the_ids_is_refused),
		T(test_qp_tells_its_attributes_where_it_was_made_alone),
		T(test_queues_without_attributes_are_refused),
		T(test_qp_of_datagrams_can_send_at_once),
		T(test_srq_is_used_by_the_qp),
		T(test_qp_with_srq_has_room_for_all_its_receives),
		T(test_srq_leaves_the_domain_that_the_id_has),
		T(test_srq_without_type_is_refused),
		T(test_srq_of_xrc_receivers_id_is_an_xrc_one),
		T(test_completion_queue_of_xrc_srq_goes_with_the_last_that_uses_it),
		T(test_srq_of_xrc_has_domain_and_completion_queue),
		T(test_qp_of_xrc_receiver_is_in_the_devices_domain),
		T(test_qp_of_xrc_receiver_without_a_domain_of_the_callers_is_in_the_devices),
		T(test_init_attr_asks_for_the_state_that_is_given),
		T(test_id_without_qp_has_none_to_set_or_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
