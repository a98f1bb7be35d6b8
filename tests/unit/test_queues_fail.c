/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues that can't be made: whatever call fails, the id and the caller's attributes are as before. */
#include "cm/queues.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>

#include "cm/attach.h"
#include "cm/life.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

/* Makes the queues with a failure at the first call of the verbs, the second, and so on, until none is reached. */
static void fail_at_every_call(struct rcm_id *id, int (*create)(struct rcm_id *id, void *attr), void *attr, size_t len)
{
	unsigned objects = rcm_fake_verbs_objects(), calls = 0;
	struct rdma_cm_id pub = id->pub;
	void *before = malloc(len);

	assert_non_null(before);
	memcpy(before, attr, len);
	for (;;) {
		rcm_fake_verbs_fail_nth(++calls, EPERM);
		if (!create(id, attr))
			break;
		assert_true(rcm_fake_verbs_has_failed());
		assert_memory_equal(attr, before, len);
		assert_memory_equal(&id->pub, &pub, sizeof(pub));
		assert_int_equal(rcm_fake_verbs_objects(), objects);
		assert_false(id->cq_of_srq);
	}
	assert_false(rcm_fake_verbs_has_failed());
	assert_uint_in_range(calls, 2, 20);
	rcm_fake_verbs_fail_nth(0, 0);
	free(before);
}

static int create_qp(struct rcm_id *id, void *attr)
{
	return rcm_queues_create_qp(id, attr);
}

static int create_srq(struct rcm_id *id, void *attr)
{
	return rcm_queues_create_srq(id, attr);
}

static int create_plain_qp(struct rcm_id *id, void *attr)
{
	return rdma_create_qp(&id->pub, NULL, attr);
}

static int create_plain_srq(struct rcm_id *id, void *attr)
{
	return rdma_create_srq(&id->pub, NULL, attr);
}

/* Each kind of QP; the XRC domain is made once for the device, so it is there before. */
static void test_qp_that_fails_at_any_call_leaves_id_and_attributes(void **state)
{
	static const struct { enum rdma_port_space ps; enum ibv_qp_type type; } kinds[] = {
		{ RDMA_PS_TCP, IBV_QPT_RC }, { RDMA_PS_UDP, IBV_QPT_UD }, { RDMA_PS_TCP, IBV_QPT_XRC_SEND },
		{ RDMA_PS_TCP, IBV_QPT_XRC_RECV },
	};
	struct ibv_xrcd *xrcd;

	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ibv_qp_init_attr_ex attr = {
			.qp_type = kinds[i].type, .cap = { .max_send_wr = 4, .max_recv_wr = 8 },
		};
		struct ibv_qp_init_attr plain = { .qp_type = kinds[i].type, .cap = { .max_send_wr = 4 } };
		struct rcm_id *id = rcm_world_id(kinds[i].ps);

		rcm_lock_acquire(&id->queues);
		assert_int_equal(rcm_attach_xrcd_locked(id, &xrcd), 0);
		rcm_lock_release(&id->queues);
		fail_at_every_call(id, create_qp, &attr, sizeof(attr));
		rcm_queues_destroy_qp(id);
		fail_at_every_call(id, create_plain_qp, &plain, sizeof(plain));
		rcm_queues_destroy_qp(id);
		rcm_id_destroy(id);
	}
}

static void test_qp_with_srq_that_fails_at_any_call_leaves_id_and_attributes(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4, .max_recv_wr = 1 } };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8 } };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rdma_create_srq(&id->pub, NULL, &srq), 0);
	fail_at_every_call(id, create_qp, &attr, sizeof(attr));
	rcm_queues_destroy_qp(id);
	rcm_queues_destroy_srq(id);
	rcm_id_destroy(id);
}

static void test_qp_that_kernel_has_no_attributes_for_leaves_id_and_attributes(void **state)
{
	const struct ibv_qp_init_attr_ex before = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1 } };
	struct ibv_qp_init_attr_ex attr = before;
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	unsigned objects = rcm_fake_verbs_objects();
	struct rdma_cm_id pub = id->pub;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_INIT_QP_ATTR), EINVAL);
	assert_int_equal(rcm_queues_create_qp(id, &attr), -EINVAL);
	assert_memory_equal(&attr, &before, sizeof(attr));
	assert_memory_equal(&id->pub, &pub, sizeof(pub));
	assert_int_equal(rcm_fake_verbs_objects(), objects);
	rcm_id_destroy(id);
}

static void test_srq_that_fails_at_any_call_leaves_id_and_attributes(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_srq_init_attr plain = { .attr = { .max_wr = 8 } };
	struct ibv_srq_init_attr_ex xrc = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .srq_type = IBV_SRQT_XRC, .attr = { .max_wr = 8 },
	};
	struct ibv_xrcd *xrcd;

	(void)state;
	fail_at_every_call(id, create_plain_srq, &plain, sizeof(plain));
	rcm_queues_destroy_srq(id);
	rcm_lock_acquire(&id->queues);
	assert_int_equal(rcm_attach_xrcd_locked(id, &xrcd), 0);
	rcm_lock_release(&id->queues);
	fail_at_every_call(id, create_srq, &xrc, sizeof(xrc));
	rcm_queues_destroy_srq(id);
	id->pub.qp_type = IBV_QPT_XRC_RECV;
	plain.attr.max_wr = 8;
	fail_at_every_call(id, create_plain_srq, &plain, sizeof(plain));
	rcm_queues_destroy_srq(id);
	rcm_id_destroy(id);
}

static void test_qp_that_fails_keeps_the_applications_completion_queues(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(id->pub.verbs);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };

	(void)state;
	id->pub.send_cq = ibv_create_cq(id->pub.verbs, 16, &id->pub, channel, 0);
	id->pub.recv_cq = ibv_create_cq(id->pub.verbs, 16, &id->pub, channel, 0);
	id->pub.send_cq_channel = id->pub.recv_cq_channel = channel;
	fail_at_every_call(id, create_plain_qp, &attr, sizeof(attr));
	assert_ptr_equal(id->pub.qp->send_cq, id->pub.send_cq);
	assert_ptr_equal(id->pub.qp->recv_cq, id->pub.recv_cq);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_qp_that_fails_at_any_call_leaves_id_and_attributes),
		T(test_qp_with_srq_that_fails_at_any_call_leaves_id_and_attributes),
		T(test_qp_that_kernel_has_no_attributes_for_leaves_id_and_attributes),
		T(test_srq_that_fails_at_any_call_leaves_id_and_attributes),
		T(test_qp_that_fails_keeps_the_applications_completion_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
