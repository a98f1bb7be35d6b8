/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: whatever way libibverbs reports an error, it is -errno here. */
#include <errno.h>
#include <limits.h>

#include "fake_verbs.h"
#include "test.h"
#include "verbs/qp.h"

static struct ibv_context *verbs;
static struct ibv_pd *pd;

static int start(void **state)
{
	struct ibv_device **list;

	(void)state;
	rcm_fake_verbs_reset();
	rcm_fake_verbs_add("a", 1, 1);
	list = ibv_get_device_list(NULL);
	verbs = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(verbs);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
	return rcm_fake_verbs_objects() ? -1 : 0;
}

static void test_cq_has_channel_and_context(void **state)
{
	struct ibv_comp_channel *channel = NULL;
	struct ibv_cq *cq = NULL;
	int context;

	(void)state;
	assert_int_equal(rcm_cq_new(verbs, 16, &context, &channel, &cq), 0);
	assert_ptr_equal(cq->cq_context, &context);
	assert_ptr_equal(cq->channel, channel);
	assert_int_equal(cq->cqe, 16);
	rcm_cq_free(channel, cq);
	rcm_cq_free(NULL, NULL);
}

static void test_cq_that_fails_leaves_no_channel(void **state)
{
	struct ibv_comp_channel *channel = NULL;
	struct ibv_cq *cq = NULL;

	(void)state;
	rcm_fake_verbs_fail(FAKE_CREATE_CQ, EINVAL);
	assert_int_equal(rcm_cq_new(verbs, 16, NULL, &channel, &cq), -EINVAL);
	rcm_fake_verbs_fail(FAKE_CREATE_CHANNEL, EMFILE);
	assert_int_equal(rcm_cq_new(verbs, 16, NULL, &channel, &cq), -EMFILE);
	assert_int_equal(rcm_cq_new(verbs, (uint32_t)INT_MAX + 1, NULL, &channel, &cq), -EINVAL);
	assert_null(channel);
	assert_null(cq);
	assert_int_equal(rcm_fake_verbs_objects(), 1);
}

static struct ibv_qp *new_qp(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};
	struct ibv_qp *qp = NULL;

	assert_int_equal(rcm_qp_new(verbs, &attr, &qp), 0);
	return qp;
}

static void test_qp_error_of_any_kind_is_negative_errno(void **state)
{
	struct ibv_qp *qp = new_qp();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	(void)state;
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, EINVAL);
	assert_int_equal(rcm_qp_modify(qp, &attr, IBV_QP_STATE), -EINVAL);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, -EIO);
	assert_int_equal(rcm_qp_modify(qp, &attr, IBV_QP_STATE), -EIO);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, -1);
	errno = ENODEV;
	assert_int_equal(rcm_qp_modify(qp, &attr, IBV_QP_STATE), -ENODEV);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, 0);
	assert_int_equal(rcm_qp_modify(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(qp->state, IBV_QPS_INIT);
	ibv_destroy_qp(qp);
}

static void test_qp_set_error_changes_state_only(void **state)
{
	struct ibv_qp *qp = new_qp();

	(void)state;
	assert_int_equal(rcm_qp_set_error(qp), 0);
	assert_int_equal(qp->state, IBV_QPS_ERR);
	assert_int_equal(rcm_fake_verbs_last_mask, IBV_QP_STATE);
	ibv_destroy_qp(qp);
}

static void test_qp_close_is_an_error_but_on_iwarp(void **state)
{
	struct ibv_qp *qp = new_qp();

	(void)state;
	assert_int_equal(rcm_qp_close(qp), 0);
	assert_int_equal(qp->state, IBV_QPS_ERR);
	verbs->device->transport_type = IBV_TRANSPORT_IWARP;
	assert_int_equal(rcm_qp_close(qp), 0);
	assert_int_equal(qp->state, IBV_QPS_SQD);
	rcm_fake_verbs_fail(FAKE_MODIFY_QP, EINVAL);
	assert_int_equal(rcm_qp_close(qp), -EINVAL);
	ibv_destroy_qp(qp);
}

static void test_srq_tells_how_many_receives_it_takes(void **state)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 10 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);
	uint32_t max = 1;

	(void)state;
	assert_int_equal(rcm_srq_max_wr(srq, &max), 0);
	assert_int_equal(max, attr.attr.max_wr);
	rcm_fake_verbs_fail(FAKE_QUERY_SRQ, EOPNOTSUPP);
	assert_int_equal(rcm_srq_max_wr(srq, &max), -EOPNOTSUPP);
	assert_int_equal(max, attr.attr.max_wr);
	ibv_destroy_srq(srq);
}

static void test_qp_that_fails_leaves_output_untouched(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	struct ibv_srq_init_attr_ex srq_attr = { .comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = pd };
	struct ibv_srq *srq = NULL;
	struct ibv_qp *qp = NULL;

	(void)state;
	rcm_fake_verbs_fail(FAKE_CREATE_QP, ENOMEM);
	assert_int_equal(rcm_qp_new(verbs, &attr, &qp), -ENOMEM);
	assert_null(qp);
	rcm_fake_verbs_fail(FAKE_CREATE_SRQ, ENOSYS);
	assert_int_equal(rcm_srq_new(verbs, &srq_attr, &srq), -ENOSYS);
	assert_null(srq);
	rcm_fake_verbs_fail(FAKE_CREATE_SRQ, 0);
	assert_int_equal(rcm_srq_new(verbs, &srq_attr, &srq), 0);
	ibv_destroy_srq(srq);
}

static void test_mcast_attach_error_is_passed_on(void **state)
{
	const union ibv_gid gid = { .raw = { 0xff } };
	struct ibv_qp *qp = new_qp();

	(void)state;
	rcm_fake_verbs_fail(FAKE_ATTACH_MCAST, ENOMEM);
	assert_int_equal(rcm_qp_attach_mcast(qp, &gid, 0xc000), -ENOMEM);
	rcm_fake_verbs_fail(FAKE_ATTACH_MCAST, 0);
	assert_int_equal(rcm_qp_attach_mcast(qp, &gid, 0xc000), 0);
	assert_int_equal(rcm_qp_detach_mcast(qp, &gid, 0xc000), 0);
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	ibv_destroy_qp(qp);
}

static void test_ece_is_queried_and_set(void **state)
{
	struct ibv_qp *qp = new_qp();
	struct ibv_ece ece = { 0 };

	(void)state;
	assert_int_equal(rcm_qp_query_ece(qp, &ece), 0);
	assert_int_equal(ece.vendor_id, 0x2c9);
	ece.comp_mask = 0;
	assert_int_equal(rcm_qp_set_ece(qp, &ece), 0);
	ece.vendor_id = 0x10df;
	assert_int_equal(rcm_qp_set_ece(qp, &ece), -EINVAL);
	rcm_fake_verbs_ece(0, 0);
	assert_int_equal(rcm_qp_query_ece(qp, &ece), 0);
	assert_int_equal(ece.vendor_id, 0);
	assert_int_equal(rcm_qp_set_ece(qp, &ece), 0);
	ibv_destroy_qp(qp);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		T(test_cq_has_channel_and_context),
		T(test_cq_that_fails_leaves_no_channel),
		T(test_qp_error_of_any_kind_is_negative_errno),
		T(test_qp_set_error_changes_state_only),
		T(test_qp_close_is_an_error_but_on_iwarp),
		T(test_srq_tells_how_many_receives_it_takes),
		T(test_qp_that_fails_leaves_output_untouched),
		T(test_mcast_attach_error_is_passed_on),
		T(test_ece_is_queried_and_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
