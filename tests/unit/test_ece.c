/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment. */
#include "cm/ece.h"

#include <errno.h>

#include "cm/conn.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "fake_ucma.h"
#include "test.h"
#include "world.h"

static void test_local_options_are_offered_without_queue_pair(void **state)
{
	const struct ibv_ece ece = { .vendor_id = 7, .options = 9 };
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	assert_int_equal(rcm_ece_set_local(id, &ece), 0);
	assert_int_equal(rcm_conn_connect(id, NULL), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).ece.vendor_id, 7);
	assert_int_equal(rcm_world_last(rdma_ucm_connect).ece.attr_mod, 9);
	rcm_id_destroy(id);
}

static void test_remote_options_come_with_the_response(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct rdma_ucm_event_resp raw = {
		.uid = id->uid, .id = id->handle, .event = RDMA_CM_EVENT_CONNECT_RESPONSE, .ece = { 3, 4 },
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
	struct ibv_ece ece = { 0 };

	(void)state;
	assert_int_equal(rcm_ece_set_local(id, &ece), -EINVAL);
	assert_int_equal(rcm_ece_get_remote(id, &ece), -EINVAL);
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_local_options_are_offered_without_queue_pair),
		T(test_remote_options_come_with_the_response),
		T(test_options_of_id_with_queue_pair_are_the_librarys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
