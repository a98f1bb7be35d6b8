/* SPDX-License-Identifier: BSD-2-Clause */
/* The door: an id stays whole while a public call on it runs. */
#include "api/door.h"

#include <arpa/inet.h>
#include <errno.h>

#include "cm/id.h"
#include "fake_ucma.h"
#include "id_calls.h"
#include "test.h"
#include "world.h"

static unsigned most_refs;

static void note_refs(uint32_t command)
{
	unsigned refs = atomic_load(&rcm_id_of(id)->refs);

	(void)command;
	if (refs > most_refs)
		most_refs = refs;
}

static int call_bind_addr(void)
{
	return rdma_bind_addr(id, (struct sockaddr *)&peer);
}

static int call_connect(void)
{
	return rdma_connect(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int call_accept(void)
{
	return rdma_accept(id, &(struct rdma_conn_param){ .qp_num = 1 });
}

static int call_create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	int ret = rdma_create_qp(id, NULL, &attr);

	rdma_destroy_qp(id);
	return ret;
}

static int call_leave_multicast(void)
{
	return call_join_multicast() || rdma_leave_multicast(id, (struct sockaddr *)&group);
}

static int call_migrate(void)
{
	return rdma_migrate_id(id, NULL);
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
#define CALL(what) { #what, call_##what }
	CALL(resolve_addr), CALL(resolve_route), CALL(bind_addr), CALL(listen), CALL(connect), CALL(accept),
	CALL(establish), CALL(reject), CALL(reject_ece), CALL(disconnect), CALL(notify), CALL(set_option),
	CALL(init_qp_attr), CALL(create_qp), CALL(join_multicast), CALL(leave_multicast), CALL(migrate),
#undef CALL
};

/* The application's reference and the call's: whoever gives up the first one in between frees nothing. */
static void test_door_of_each_call_holds_a_reference_while_the_kernel_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int ret;

		id = &rcm_world_id(RDMA_PS_TCP)->pub;
		most_refs = 0;
		rcm_fake_ucma_before(note_refs);
		ret = calls[i].call();
		rcm_fake_ucma_before(NULL);
		if (ret || most_refs < 2)
			fail_msg("%s: returns %d with %u references", calls[i].name, ret, most_refs);
		assert_int_equal(atomic_load(&rcm_id_of(id)->refs), 1);
		assert_int_equal(rdma_destroy_id(id), 0);
	}
}

static void test_door_of_destroy_holds_a_reference_too(void **state)
{
	(void)state;
	id = &rcm_world_id(RDMA_PS_TCP)->pub;
	most_refs = 0;
	rcm_fake_ucma_before(note_refs);
	assert_int_equal(rdma_destroy_id(id), 0);
	rcm_fake_ucma_before(NULL);
	assert_int_equal(most_refs, 2);
}

static void test_door_without_an_id_leads_to_einval(void **state)
{
	struct rcm_door door = rcm_door_enter(NULL);

	(void)state;
	assert_null(door.id);
	assert_int_equal(rcm_door_leave(&door, -EINVAL), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_disconnect(NULL), -1);
	assert_int_equal(errno, EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_door_of_each_call_holds_a_reference_while_the_kernel_is_asked),
		TEST(test_door_of_destroy_holds_a_reference_too),
		TEST(test_door_without_an_id_leads_to_einval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
