/* SPDX-License-Identifier: BSD-2-Clause */
/* Every command of the kernel's connection manager: the bytes written, the answer read, errors passed on. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "fake_malloc.h"
#include "fake_ucma.h"
#include "test.h"
#include "ucma/ucma.h"

static struct rcm_ucma ucma;

static int start(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	return rcm_ucma_open(&ucma, O_NONBLOCK);
}

static int end(void **state)
{
	(void)state;
	rcm_ucma_close(&ucma);
	rcm_fake_ucma_done();
	return 0;
}

static struct sockaddr_in ipv4(const char *text, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	assert_int_equal(inet_pton(AF_INET, text, &sin.sin_addr), 1);
	return sin;
}

static void test_create_id_handle_is_read_from_answer(void **state)
{
	const struct rdma_ucm_create_id_resp answer = { .id = 77 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	uint32_t handle = 0;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_create_id, uid, 0x1122334455667788ULL);
	rcm_fake_step_field(step, rdma_ucm_create_id, ps, 0x0106);
	rcm_fake_step_field(step, rdma_ucm_create_id, qp_type, IBV_QPT_RC);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_create_id(&ucma, 0x1122334455667788ULL, RDMA_PS_TCP, IBV_QPT_RC, &handle),
			 0);
	assert_int_equal(handle, 77);
}

static void test_create_id_failed_output_is_untouched(void **state)
{
	uint32_t handle = 5;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID), ENOMEM);
	assert_int_equal(rcm_ucma_create_id(&ucma, 1, RDMA_PS_UDP, IBV_QPT_UD, &handle), -ENOMEM);
	assert_int_equal(handle, 5);
}

static void expect_release(uint32_t command, uint32_t handle, uint32_t events)
{
	const struct rdma_ucm_destroy_id_resp answer = { .events_reported = events };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(command);

	rcm_fake_step_field(step, rdma_ucm_destroy_id, id, handle);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
}

static void test_destroy_id_tells_events_that_were_read(void **state)
{
	uint32_t events = 0;

	(void)state;
	expect_release(RDMA_USER_CM_CMD_DESTROY_ID, 9, 3);
	assert_int_equal(rcm_ucma_destroy_id(&ucma, 9, &events), 0);
	assert_int_equal(events, 3);
	expect_release(RDMA_USER_CM_CMD_LEAVE_MCAST, 10, 1);
	assert_int_equal(rcm_ucma_leave_mcast(&ucma, 10, &events), 0);
	assert_int_equal(events, 1);
}

static void test_migrate_id_names_old_descriptor(void **state)
{
	const struct rdma_ucm_migrate_resp answer = { .events_reported = 4 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID);
	uint32_t events = 0;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_migrate_id, id, 9);
	rcm_fake_step_field(step, rdma_ucm_migrate_id, fd, 33);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_migrate_id(&ucma, 9, 33, &events), 0);
	assert_int_equal(events, 4);
}

static void test_bind_address_is_sent_with_its_size(void **state)
{
	const struct sockaddr_in sin = ipv4("192.0.2.1", 7471);
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_bind, id, 2);
	rcm_fake_step_field(step, rdma_ucm_bind, addr_size, sizeof(sin));
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_bind, addr), &sin, sizeof(sin));
	rcm_fake_step_error(step, EADDRINUSE);
	assert_int_equal(rcm_ucma_bind(&ucma, 2, (const struct sockaddr *)&sin, sizeof(sin)), -EADDRINUSE);
}

static void test_address_too_long_or_short_is_refused_before_kernel(void **state)
{
	const struct sockaddr_storage ss = { .ss_family = AF_INET };
	const struct sockaddr *sa = (const struct sockaddr *)&ss;
	uint32_t mcast;

	(void)state;
	assert_int_equal(rcm_ucma_bind(&ucma, 1, sa, sizeof(ss) + 1), -EINVAL);
	assert_int_equal(rcm_ucma_bind(&ucma, 1, sa, 1), -EINVAL);
	assert_int_equal(rcm_ucma_resolve_addr(&ucma, 1, NULL, 0, sa, 0, 100), -EINVAL);
	assert_int_equal(rcm_ucma_resolve_addr(&ucma, 1, sa, 1000, sa, 16, 100), -EINVAL);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, sa, 1000, 0, &mcast), -EINVAL);
}

static void test_resolve_addr_without_source_sends_none(void **state)
{
	const struct sockaddr_in dst = ipv4("192.0.2.2", 1);
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_resolve_addr, id, 3);
	rcm_fake_step_field(step, rdma_ucm_resolve_addr, timeout_ms, 2000);
	rcm_fake_step_field(step, rdma_ucm_resolve_addr, src_size, 0);
	rcm_fake_step_field(step, rdma_ucm_resolve_addr, dst_size, sizeof(dst));
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_resolve_addr, dst_addr), &dst, sizeof(dst));
	assert_int_equal(rcm_ucma_resolve_addr(&ucma, 3, NULL, 0, (const struct sockaddr *)&dst, sizeof(dst),
					       2000), 0);
}

static void test_resolve_addr_with_source_sends_both(void **state)
{
	const struct sockaddr_in src = ipv4("192.0.2.1", 0), dst = ipv4("192.0.2.2", 1);
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_resolve_addr, src_size, sizeof(src));
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_resolve_addr, src_addr), &src, sizeof(src));
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_resolve_addr, dst_addr), &dst, sizeof(dst));
	assert_int_equal(rcm_ucma_resolve_addr(&ucma, 3, (const struct sockaddr *)&src, sizeof(src),
					       (const struct sockaddr *)&dst, sizeof(dst), 2000), 0);
}

static void test_resolve_route_timeout_is_sent(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ROUTE);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_resolve_route, id, 3);
	rcm_fake_step_field(step, rdma_ucm_resolve_route, timeout_ms, 1500);
	assert_int_equal(rcm_ucma_resolve_route(&ucma, 3, 1500), 0);
}

static void test_resolve_ib_service_flags_say_what_is_asked(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE);
	char name[65];

	(void)state;
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, id, 3);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, service_id, 0x42);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, flags, 1);
	assert_int_equal(rcm_ucma_resolve_ib_service(&ucma, 3, true, 0x42, NULL), 0);
	step = rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, service_id, 0);
	rcm_fake_step_bytes(step, offsetof(struct rcm_ucm_resolve_ib_service, service_name), "svc\0", 4);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, flags, 2);
	rcm_fake_step_error(step, EINVAL);
	assert_int_equal(rcm_ucma_resolve_ib_service(&ucma, 3, false, 0x42, "svc"), -EINVAL);
	memset(name, 'n', 64);
	name[64] = '\0';
	assert_int_equal(rcm_ucma_resolve_ib_service(&ucma, 3, false, 0, name), -ENAMETOOLONG);
}

static void test_query_addr_answer_is_taken_over(void **state)
{
	const struct sockaddr_in src = ipv4("192.0.2.1", 1);
	struct rdma_ucm_query_addr_resp answer = {
		.node_guid = 0xaabb, .port_num = 2, .pkey = htons(0x8001), .src_size = sizeof(src), .ibdev_index = 4,
	};
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	struct rcm_ucma_addr addr;

	(void)state;
	memcpy(&answer.src_addr, &src, sizeof(src));
	rcm_fake_step_field(step, rdma_ucm_query, id, 6);
	rcm_fake_step_field(step, rdma_ucm_query, option, RDMA_USER_CM_QUERY_ADDR);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_query_addr(&ucma, 6, &addr), 0);
	assert_true(addr.node_guid == 0xaabb && addr.device_index == 4 && addr.port == 2);
	assert_int_equal(addr.pkey, htons(0x8001));
	assert_memory_equal(&addr.src, &src, sizeof(src));
	assert_int_equal(addr.dst.ss_family, 0);
}

static void test_query_addr_kernel_without_index_leaves_it_unknown(void **state)
{
	const struct rdma_ucm_query_addr_resp answer = { .node_guid = 1 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	struct rcm_ucma_addr addr;

	(void)state;
	rcm_fake_step_answer(step, &answer, offsetof(struct rdma_ucm_query_addr_resp, ibdev_index));
	assert_int_equal(rcm_ucma_query_addr(&ucma, 6, &addr), 0);
	assert_true(addr.device_index == -1);
}

static void test_query_gid_asks_for_gids(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	struct rcm_ucma_addr addr;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_query, option, RDMA_USER_CM_QUERY_GID);
	assert_int_equal(rcm_ucma_query_gid(&ucma, 6, &addr), 0);
}

static void test_query_path_count_beyond_room_is_cut(void **state)
{
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ibv_path_data paths[6];
	} answer = { .head.num_paths = 7, .paths[5].flags = 0x55 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	struct ibv_path_data paths[RCM_UCMA_PATHS_MAX];
	uint32_t count;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_query, option, RDMA_USER_CM_QUERY_PATH);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_query_path(&ucma, 6, paths, &count), 0);
	assert_int_equal(count, 6);
	assert_int_equal(paths[5].flags, 0x55);
}

static void test_query_ib_service_tells_more_records_than_room(void **state)
{
	struct {
		struct rcm_ucm_query_ib_service_resp head;
		struct rcm_ucm_service_rec recs[2];
	} answer = { .head.num_service_recs = 3, .recs[1].name = "second" };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);
	uint32_t count, total;
	uint8_t records[2][176];

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_query, option, 3);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_query_ib_service(&ucma, 6, records, 2, &count, &total), 0);
	assert_int_equal(count, 2);
	assert_int_equal(total, 3);
	assert_string_equal((char *)records[1] + 48, "second");
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), ENODATA);
	assert_int_equal(rcm_ucma_query_ib_service(&ucma, 6, records, 2, &count, &total), -ENODATA);
	assert_int_equal(count, 2);
	assert_int_equal(total, 3);
}

static void test_connect_every_parameter_arrives(void **state)
{
	const struct rdma_conn_param param = {
		.private_data = "hello", .private_data_len = 5, .responder_resources = 1, .initiator_depth = 2,
		.flow_control = 1, .retry_count = 3, .rnr_retry_count = 4, .srq = 1, .qp_num = 0x123456,
	};
	const struct rdma_ucm_conn_param want = {
		.qp_num = 0x123456, .private_data = "hello", .private_data_len = 5, .srq = 1,
		.responder_resources = 1, .initiator_depth = 2, .flow_control = 1, .retry_count = 3,
		.rnr_retry_count = 4, .valid = 1,
	};
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CONNECT);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_connect, id, 8);
	rcm_fake_step_bytes(step, 0, &want, sizeof(want));
	rcm_fake_step_field(step, rdma_ucm_connect, ece.vendor_id, 0x2c9);
	rcm_fake_step_field(step, rdma_ucm_connect, ece.attr_mod, 7);
	assert_int_equal(rcm_ucma_connect(&ucma, 8, &param, (struct rcm_ucma_ece){ 0x2c9, 7 }), 0);
}

static void test_connect_private_data_of_every_length_arrives(void **state)
{
	uint8_t data[255];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	for (unsigned len = 0; len <= sizeof(data); len++) {
		const struct rdma_conn_param param = { .private_data = data, .private_data_len = (uint8_t)len };
		struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CONNECT);
		uint8_t want[256] = { 0 };

		memcpy(want, data, len);
		rcm_fake_step_field(step, rdma_ucm_connect, conn_param.private_data_len, (uint8_t)len);
		rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_connect, conn_param.private_data), want,
				    sizeof(want));
		assert_int_equal(rcm_ucma_connect(&ucma, 8, &param, (struct rcm_ucma_ece){ 0 }), 0);
	}
}

static void test_accept_without_parameters_is_marked_so(void **state)
{
	const struct rdma_conn_param param = { .qp_num = 5 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_ACCEPT);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_accept, uid, 99);
	rcm_fake_step_field(step, rdma_ucm_accept, id, 4);
	rcm_fake_step_field(step, rdma_ucm_accept, conn_param.valid, 0);
	assert_int_equal(rcm_ucma_accept(&ucma, 4, 99, NULL, (struct rcm_ucma_ece){ 0 }), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_ACCEPT);
	rcm_fake_step_field(step, rdma_ucm_accept, conn_param.valid, 1);
	rcm_fake_step_field(step, rdma_ucm_accept, conn_param.qp_num, 5);
	rcm_fake_step_field(step, rdma_ucm_accept, ece.vendor_id, 3);
	assert_int_equal(rcm_ucma_accept(&ucma, 4, 99, &param, (struct rcm_ucma_ece){ 3, 4 }), 0);
}

static void test_reject_reason_and_data_are_sent(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_REJECT);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_reject, id, 4);
	rcm_fake_step_field(step, rdma_ucm_reject, reason, 35);
	rcm_fake_step_field(step, rdma_ucm_reject, private_data_len, 2);
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_reject, private_data), "no", 3);
	assert_int_equal(rcm_ucma_reject(&ucma, 4, 35, "no", 2), 0);
}

static void test_listen_disconnect_notify_name_the_id(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_LISTEN);

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_listen, id, 4);
	rcm_fake_step_field(step, rdma_ucm_listen, backlog, 128);
	assert_int_equal(rcm_ucma_listen(&ucma, 4, 128), 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DISCONNECT);
	rcm_fake_step_field(step, rdma_ucm_disconnect, id, 4);
	rcm_fake_step_error(step, EINVAL);
	assert_int_equal(rcm_ucma_disconnect(&ucma, 4), -EINVAL);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_NOTIFY);
	rcm_fake_step_field(step, rdma_ucm_notify, id, 4);
	rcm_fake_step_field(step, rdma_ucm_notify, event, IBV_EVENT_COMM_EST);
	assert_int_equal(rcm_ucma_notify(&ucma, 4, IBV_EVENT_COMM_EST), 0);
}

static void test_init_qp_attr_answer_is_decoded(void **state)
{
	const struct ib_uverbs_qp_attr answer = { .qp_attr_mask = IBV_QP_STATE | IBV_QP_PORT, .qp_state = IBV_QPS_INIT,
						  .port_num = 2 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_INIT_QP_ATTR);
	struct ibv_qp_attr attr;
	int mask;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_init_qp_attr, id, 4);
	rcm_fake_step_field(step, rdma_ucm_init_qp_attr, qp_state, IBV_QPS_INIT);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_init_qp_attr(&ucma, 4, IBV_QPS_INIT, &attr, &mask), 0);
	assert_int_equal(mask, IBV_QP_STATE | IBV_QP_PORT);
	assert_int_equal(attr.qp_state, IBV_QPS_INIT);
	assert_int_equal(attr.port_num, 2);
}

static void test_set_option_names_value_by_pointer(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);
	uint8_t tos = 0x20;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_set_option, optval, (uintptr_t)&tos);
	rcm_fake_step_field(step, rdma_ucm_set_option, id, 4);
	rcm_fake_step_field(step, rdma_ucm_set_option, level, RDMA_OPTION_ID);
	rcm_fake_step_field(step, rdma_ucm_set_option, optname, RDMA_OPTION_ID_TOS);
	rcm_fake_step_field(step, rdma_ucm_set_option, optlen, 1);
	assert_int_equal(rcm_ucma_set_option(&ucma, 4, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0);
}

/* The kernel is told its length in 32 bits. */
static void test_set_option_of_a_value_beyond_4_gib_is_refused(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION);
	uint8_t tos = 0x20;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_set_option, optlen, UINT32_MAX);
	assert_int_equal(rcm_ucma_set_option(&ucma, 4, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, UINT32_MAX), 0);
	if (SIZE_MAX > UINT32_MAX)
		assert_int_equal(rcm_ucma_set_option(&ucma, 4, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, SIZE_MAX), -EINVAL);
}

static void test_join_mcast_membership_has_its_own_handle(void **state)
{
	const struct sockaddr_in group = ipv4("239.0.0.1", 0);
	const struct rdma_ucm_create_id_resp answer = { .id = 12 };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_JOIN_MCAST);
	uint32_t mcast = 0;

	(void)state;
	rcm_fake_step_field(step, rdma_ucm_join_mcast, uid, 55);
	rcm_fake_step_field(step, rdma_ucm_join_mcast, id, 4);
	rcm_fake_step_field(step, rdma_ucm_join_mcast, addr_size, sizeof(group));
	rcm_fake_step_field(step, rdma_ucm_join_mcast, join_flags, 1);
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_join_mcast, addr), &group, sizeof(group));
	rcm_fake_step_answer(step, &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 4, 55, (const struct sockaddr *)&group, sizeof(group), 1,
					     &mcast), 0);
	assert_int_equal(mcast, 12);
}

static void test_get_event_descriptor_is_readable_while_one_waits(void **state)
{
	const struct rdma_ucm_event_resp resp = { .uid = 3, .id = 4, .event = RDMA_CM_EVENT_REJECTED, .status = 28 };
	struct pollfd p = { .fd = ucma.fd, .events = POLLIN };
	struct rcm_ucma_event event;

	(void)state;
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(rcm_ucma_get_event(&ucma, &event), -EAGAIN);
	rcm_fake_ucma_event(ucma.fd, &resp);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(rcm_ucma_get_event(&ucma, &event), 0);
	assert_true(event.uid == 3 && event.handle == 4 && event.status == 28);
	assert_int_equal(event.type, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(poll(&p, 1, 0), 0);
}

static void test_query_ib_service_without_memory_asks_nothing(void **state)
{
	uint8_t records[2][176];
	uint32_t count = 5, total = 6;

	(void)state;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_ucma_query_ib_service(&ucma, 1, records, 2, &count, &total), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_int_equal(count, 5);
	assert_int_equal(total, 6);
}

static void test_name_of_a_service_that_is_too_long_is_refused_before_kernel(void **state)
{
	char name[65];
	struct rcm_fake_step *step;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[64] = '\0';
	assert_int_equal(rcm_ucma_resolve_ib_service(&ucma, 1, false, 0, name), -ENAMETOOLONG);
	name[63] = '\0';
	step = rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE);
	rcm_fake_step_bytes(step, offsetof(struct rcm_ucm_resolve_ib_service, service_name), name, sizeof(name) - 1);
	assert_int_equal(rcm_ucma_resolve_ib_service(&ucma, 1, false, 0, name), 0);
}

static void test_address_of_another_size_than_any_is_refused_before_kernel(void **state)
{
	struct sockaddr_storage any = { .ss_family = AF_INET };
	uint32_t handle;

	(void)state;
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (struct sockaddr *)&any, 1, 0, &handle), -EINVAL);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (struct sockaddr *)&any, sizeof(any) + 1, 0, &handle), -EINVAL);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_JOIN_MCAST);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (struct sockaddr *)&any, sizeof(any), 0, &handle), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_JOIN_MCAST);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (struct sockaddr *)&any, 2, 0, &handle), 0);
}

static void test_closed_one_takes_no_command_and_may_be_closed_again(void **state)
{
	struct rcm_ucma closed = RCM_UCMA_CLOSED;

	(void)state;
	assert_int_equal(rcm_ucma_resolve_route(&closed, 1, 1), -ENODEV);
	rcm_ucma_close(&closed);
	rcm_ucma_close(&closed);
	assert_int_equal(rcm_ucma_usable(), 0);
}

static void test_open_error_is_passed_on(void **state)
{
	struct rcm_ucma other = RCM_UCMA_CLOSED;

	(void)state;
	rcm_fake_ucma_open_result(-EACCES);
	assert_int_equal(rcm_ucma_open(&other, O_NONBLOCK), -EACCES);
	assert_int_equal(rcm_ucma_usable(), -EACCES);
	assert_int_equal(other.fd, -1);
	assert_int_equal(rcm_ucma_listen(&other, 1, 1), -ENODEV);
	rcm_ucma_close(&other);
}

/* A kernel that writes nothing. */
static void test_answer_that_the_kernel_leaves_alone_is_zeros(void **state)
{
	static const uint32_t commands[] = {
		RDMA_USER_CM_CMD_CREATE_ID, RDMA_USER_CM_CMD_DESTROY_ID, RDMA_USER_CM_CMD_LEAVE_MCAST,
		RDMA_USER_CM_CMD_MIGRATE_ID, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_CMD_QUERY,
		RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_JOIN_MCAST,
	};
	static const uint8_t zeros[sizeof(struct sockaddr_storage)];
	const struct sockaddr_in group = ipv4("239.0.0.1", 0);
	uint32_t numbers[7] = { 9, 9, 9, 9, 9, 9, 9 };
	struct ibv_path_data paths[RCM_UCMA_PATHS_MAX];
	struct rcm_ucma_addr addr;
	struct ibv_qp_attr attr;
	uint8_t records[1][176];
	int mask = 9;

	(void)state;
	memset(&addr, 0xff, sizeof(addr));
	for (unsigned i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		rcm_fake_step_answer(rcm_fake_ucma_expect(commands[i]), "", 0);
	assert_int_equal(rcm_ucma_create_id(&ucma, 1, RDMA_PS_TCP, IBV_QPT_RC, &numbers[0]), 0);
	assert_int_equal(rcm_ucma_destroy_id(&ucma, 1, &numbers[1]), 0);
	assert_int_equal(rcm_ucma_leave_mcast(&ucma, 1, &numbers[2]), 0);
	assert_int_equal(rcm_ucma_migrate_id(&ucma, 1, 1, &numbers[3]), 0);
	assert_int_equal(rcm_ucma_query_path(&ucma, 1, paths, &numbers[4]), 0);
	assert_int_equal(rcm_ucma_query_ib_service(&ucma, 1, records, 1, &numbers[5], &numbers[6]), 0);
	assert_int_equal(rcm_ucma_query_gid(&ucma, 1, &addr), 0);
	assert_true(addr.device_index == -1 && !addr.node_guid && !addr.port && !addr.pkey);
	assert_memory_equal(&addr.src, zeros, sizeof(addr.src));
	assert_memory_equal(&addr.dst, zeros, sizeof(addr.dst));
	assert_int_equal(rcm_ucma_init_qp_attr(&ucma, 1, IBV_QPS_INIT, &attr, &mask), 0);
	assert_int_equal(mask, 0);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_int_equal(numbers[i], 0);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (const struct sockaddr *)&group, sizeof(group), 0, &numbers[0]), 0);
	assert_int_equal(numbers[0], 0);
}

static void test_refused_command_leaves_what_it_would_have_told(void **state)
{
	static const uint32_t commands[] = {
		RDMA_USER_CM_CMD_DESTROY_ID, RDMA_USER_CM_CMD_LEAVE_MCAST, RDMA_USER_CM_CMD_MIGRATE_ID,
		RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_JOIN_MCAST,
	};
	const struct sockaddr_in group = ipv4("239.0.0.1", 0);
	struct rcm_ucma_addr addr = { .port = 9 };
	struct ibv_path_data paths[RCM_UCMA_PATHS_MAX];
	struct ibv_qp_attr attr = { .port_num = 9 };
	uint32_t number = 9;
	int mask = 9;

	(void)state;
	for (unsigned i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		rcm_fake_step_error(rcm_fake_ucma_expect(commands[i]), ENODEV);
	assert_int_equal(rcm_ucma_destroy_id(&ucma, 1, &number), -ENODEV);
	assert_int_equal(rcm_ucma_leave_mcast(&ucma, 1, &number), -ENODEV);
	assert_int_equal(rcm_ucma_migrate_id(&ucma, 1, 1, &number), -ENODEV);
	assert_int_equal(rcm_ucma_query_path(&ucma, 1, paths, &number), -ENODEV);
	assert_int_equal(rcm_ucma_query_addr(&ucma, 1, &addr), -ENODEV);
	assert_int_equal(rcm_ucma_init_qp_attr(&ucma, 1, IBV_QPS_INIT, &attr, &mask), -ENODEV);
	assert_int_equal(rcm_ucma_join_mcast(&ucma, 1, 1, (const struct sockaddr *)&group, sizeof(group), 0, &number), -ENODEV);
	assert_true(number == 9 && mask == 9 && addr.port == 9 && attr.port_num == 9);
}

/* Its length without its place, and its place without a length, are none. */
static void test_private_data_without_place_or_length_is_none(void **state)
{
	static const struct { const void *data; uint8_t len; } cases[] = { { NULL, 5 }, { "data", 0 } };
	static const uint8_t none[256];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct rdma_conn_param param = { .private_data = cases[i].data, .private_data_len = cases[i].len };
		struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_ACCEPT);

		rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_accept, conn_param.private_data), none, sizeof(none));
		rcm_fake_step_field(step, rdma_ucm_accept, conn_param.private_data_len, 0);
		rcm_fake_step_field(step, rdma_ucm_accept, ece.vendor_id, 3);
		rcm_fake_step_field(step, rdma_ucm_accept, ece.attr_mod, 4);
		assert_int_equal(rcm_ucma_accept(&ucma, 1, 2, &param, (struct rcm_ucma_ece){ 3, 4 }), 0);
		step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_REJECT);
		rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_reject, private_data), none, sizeof(none));
		rcm_fake_step_field(step, rdma_ucm_reject, private_data_len, 0);
		assert_int_equal(rcm_ucma_reject(&ucma, 1, 28, cases[i].data, cases[i].len), 0);
	}
}

/* A header, and a body behind it of the size that the header says. */
static void test_bodies_are_as_long_as_the_kernels(void **state)
{
	const struct sockaddr_in sin = ipv4("192.0.2.1", 1);
	const struct sockaddr *sa = (const struct sockaddr *)&sin;
	uint8_t body[1024];

	(void)state;
	rcm_fake_ucma_lenient(true);
	rcm_ucma_bind(&ucma, 1, sa, sizeof(sin));
	assert_int_equal(rcm_fake_ucma_last_body(body, sizeof(body)), sizeof(struct rdma_ucm_bind));
	rcm_ucma_resolve_addr(&ucma, 1, NULL, 0, sa, sizeof(sin), 1);
	assert_int_equal(rcm_fake_ucma_last_body(body, sizeof(body)), sizeof(struct rdma_ucm_resolve_addr));
	rcm_ucma_listen(&ucma, 1, 1);
	assert_int_equal(rcm_fake_ucma_last_body(body, sizeof(body)), sizeof(struct rdma_ucm_listen));
}

static void test_query_ib_service_of_more_room_than_there_is_asks_for_less(void **state)
{
	uint8_t (*records)[176] = calloc(RCM_UCMA_SERVICES_MAX + 1, sizeof(*records));
	const struct rcm_ucm_query_ib_service_resp answer = { .num_service_recs = RCM_UCMA_SERVICES_MAX + 1 };
	uint32_t count, total;

	(void)state;
	assert_non_null(records);
	for (uint32_t room = RCM_UCMA_SERVICES_MAX - 1; room <= RCM_UCMA_SERVICES_MAX + 1; room++) {
		rcm_fake_step_answer(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), &answer, sizeof(answer));
		assert_int_equal(rcm_ucma_query_ib_service(&ucma, 6, records, room, &count, &total), 0);
		assert_int_equal(count, room > RCM_UCMA_SERVICES_MAX ? RCM_UCMA_SERVICES_MAX : room);
		assert_int_equal(total, RCM_UCMA_SERVICES_MAX + 1);
	}
	free(records);
}

static void test_query_of_addresses_tells_both(void **state)
{
	const struct sockaddr_in src = ipv4("192.0.2.1", 1), dst = ipv4("192.0.2.2", 2);
	struct rdma_ucm_query_addr_resp answer = { .node_guid = 1 };
	struct rcm_ucma_addr addr;

	(void)state;
	memcpy(&answer.src_addr, &src, sizeof(src));
	memcpy(&answer.dst_addr, &dst, sizeof(dst));
	rcm_fake_step_answer(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), &answer, sizeof(answer));
	assert_int_equal(rcm_ucma_query_gid(&ucma, 1, &addr), 0);
	assert_memory_equal(&addr.src, &src, sizeof(src));
	assert_memory_equal(&addr.dst, &dst, sizeof(dst));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		T(test_create_id_handle_is_read_from_answer),
		T(test_create_id_failed_output_is_untouched),
		T(test_destroy_id_tells_events_that_were_read),
		T(test_migrate_id_names_old_descriptor),
		T(test_bind_address_is_sent_with_its_size),
		T(test_address_too_long_or_short_is_refused_before_kernel),
		T(test_resolve_addr_without_source_sends_none),
		T(test_resolve_addr_with_source_sends_both),
		T(test_resolve_route_timeout_is_sent),
		T(test_resolve_ib_service_flags_say_what_is_asked),
		T(test_query_addr_answer_is_taken_over),
		T(test_query_addr_kernel_without_index_leaves_it_unknown),
		T(test_query_gid_asks_for_gids),
		T(test_query_path_count_beyond_room_is_cut),
		T(test_query_ib_service_tells_more_records_than_room),
		T(test_connect_every_parameter_arrives),
		T(test_connect_private_data_of_every_length_arrives),
		T(test_accept_without_parameters_is_marked_so),
		T(test_reject_reason_and_data_are_sent),
		T(test_listen_disconnect_notify_name_the_id),
		T(test_init_qp_attr_answer_is_decoded),
		T(test_set_option_names_value_by_pointer),
		T(test_set_option_of_a_value_beyond_4_gib_is_refused),
		T(test_join_mcast_membership_has_its_own_handle),
		T(test_get_event_descriptor_is_readable_while_one_waits),
		T(test_open_error_is_passed_on),
		T(test_query_ib_service_without_memory_asks_nothing),
		T(test_name_of_a_service_that_is_too_long_is_refused_before_kernel),
		T(test_address_of_another_size_than_any_is_refused_before_kernel),
		T(test_closed_one_takes_no_command_and_may_be_closed_again),
		T(test_answer_that_the_kernel_leaves_alone_is_zeros),
		T(test_refused_command_leaves_what_it_would_have_told),
		T(test_private_data_without_place_or_length_is_none),
		T(test_bodies_are_as_long_as_the_kernels),
		T(test_query_ib_service_of_more_room_than_there_is_asks_for_less),
		T(test_query_of_addresses_tells_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
