/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's bytes to plain structures. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>

#include "test.h"
#include "uapi/ucma_abi.h"
#include "ucma/decode.h"

static void test_event_shorter_than_one_is_an_error(void **state)
{
	struct rdma_ucm_event_resp resp = { .uid = 1 };
	struct rcm_ucma_event event = { .uid = 9 };
	size_t least = offsetof(struct rdma_ucm_event_resp, reserved);

	(void)state;
	for (size_t len = 0; len < least; len++)
		assert_int_equal(rcm_ucma_event_decode(&resp, len, &event), -EIO);
	assert_true(event.uid == 9);
	assert_int_equal(rcm_ucma_event_decode(&resp, least, &event), 0);
	assert_true(event.uid == 1 && event.ece.vendor_id == 0);
}

static void test_event_negative_status_keeps_its_sign(void **state)
{
	struct rdma_ucm_event_resp resp = { .uid = 1, .id = 2, .event = RDMA_CM_EVENT_ADDR_ERROR,
					    .status = (uint32_t)-EHOSTUNREACH, .ece = { 3, 4 } };
	struct rcm_ucma_event event;

	(void)state;
	assert_int_equal(rcm_ucma_event_decode(&resp, sizeof(resp), &event), 0);
	assert_int_equal(event.status, -EHOSTUNREACH);
	assert_int_equal(event.handle, 2);
	assert_int_equal(event.ece.vendor_id, 3);
	assert_int_equal(event.ece.attr_mod, 4);
}

static void test_event_conn_request_parameters_are_complete(void **state)
{
	struct rdma_ucm_event_resp resp = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	struct rdma_conn_param conn;
	struct rcm_ucma_event event;

	(void)state;
	resp.param.conn = (struct rdma_ucm_conn_param){
		.qp_num = 0x77, .private_data = "abc", .private_data_len = 56, .srq = 1, .responder_resources = 2,
		.initiator_depth = 3, .flow_control = 1, .retry_count = 5, .rnr_retry_count = 6,
	};
	assert_int_equal(rcm_ucma_event_decode(&resp, sizeof(resp), &event), 0);
	rcm_ucma_event_conn(&event, &conn);
	assert_int_equal(conn.private_data_len, 56);
	assert_string_equal(conn.private_data, "abc");
	assert_true(conn.qp_num == 0x77 && conn.srq == 1 && conn.responder_resources == 2);
	assert_true(conn.initiator_depth == 3 && conn.flow_control == 1 && conn.retry_count == 5);
	assert_int_equal(conn.rnr_retry_count, 6);
}

static void test_event_without_private_data_has_null(void **state)
{
	struct rdma_ucm_event_resp resp = { 0 };
	struct rdma_conn_param conn;
	struct rdma_ud_param ud;
	struct rcm_ucma_event event;

	(void)state;
	assert_int_equal(rcm_ucma_event_decode(&resp, sizeof(resp), &event), 0);
	rcm_ucma_event_conn(&event, &conn);
	assert_null(conn.private_data);
	rcm_ucma_event_ud(&event, &ud);
	assert_null(ud.private_data);
}

static void test_event_ud_parameters_carry_address_of_peer(void **state)
{
	struct rdma_ucm_event_resp resp = { .event = RDMA_CM_EVENT_ESTABLISHED };
	struct rdma_ud_param ud;
	struct rcm_ucma_event event;

	(void)state;
	resp.param.ud = (struct rdma_ucm_ud_param){
		.qp_num = 0x88, .qkey = 0x01234567,
		.ah_attr = { .grh = { .dgid = { 0xfe, 0x80, [15] = 1 }, .flow_label = 5, .sgid_index = 3,
				      .hop_limit = 64, .traffic_class = 7 },
			     .dlid = 9, .sl = 2, .src_path_bits = 1, .static_rate = 4, .is_global = 1, .port_num = 1 },
		.private_data = "xyz", .private_data_len = 255,
	};
	resp.param.ud.private_data[254] = 0xee;
	assert_int_equal(rcm_ucma_event_decode(&resp, sizeof(resp), &event), 0);
	rcm_ucma_event_ud(&event, &ud);
	assert_int_equal(ud.private_data_len, 255);
	assert_int_equal(((const uint8_t *)ud.private_data)[254], 0xee);
	assert_true(ud.qp_num == 0x88 && ud.qkey == 0x01234567);
	assert_memory_equal(ud.ah_attr.grh.dgid.raw, resp.param.ud.ah_attr.grh.dgid, 16);
	assert_true(ud.ah_attr.grh.flow_label == 5 && ud.ah_attr.grh.sgid_index == 3);
	assert_true(ud.ah_attr.grh.hop_limit == 64 && ud.ah_attr.grh.traffic_class == 7);
	assert_true(ud.ah_attr.dlid == 9 && ud.ah_attr.sl == 2 && ud.ah_attr.src_path_bits == 1);
	assert_true(ud.ah_attr.static_rate == 4 && ud.ah_attr.is_global == 1 && ud.ah_attr.port_num == 1);
}

static void test_qp_attr_every_field_is_taken_over(void **state)
{
	const struct ib_uverbs_qp_attr from = {
		.qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_RQ_PSN, .qp_state = IBV_QPS_RTR,
		.cur_qp_state = IBV_QPS_INIT, .path_mtu = IBV_MTU_1024, .path_mig_state = IBV_MIG_MIGRATED, .qkey = 1,
		.rq_psn = 2, .sq_psn = 3, .dest_qp_num = 4, .qp_access_flags = 5,
		.ah_attr = { .dlid = 6 }, .alt_ah_attr = { .dlid = 7 }, .max_send_wr = 8, .max_recv_wr = 9,
		.max_send_sge = 10, .max_recv_sge = 11, .max_inline_data = 12, .pkey_index = 13, .alt_pkey_index = 14,
		.en_sqd_async_notify = 15, .sq_draining = 16, .max_rd_atomic = 17, .max_dest_rd_atomic = 18,
		.min_rnr_timer = 19, .port_num = 20, .timeout = 21, .retry_cnt = 22, .rnr_retry = 23,
		.alt_port_num = 24, .alt_timeout = 25,
	};
	struct ibv_qp_attr a;
	int mask;

	(void)state;
	rcm_ucma_qp_attr_decode(&from, &a, &mask);
	assert_int_equal(mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_RQ_PSN);
	assert_true(a.qp_state == IBV_QPS_RTR && a.cur_qp_state == IBV_QPS_INIT && a.path_mtu == IBV_MTU_1024);
	assert_true(a.path_mig_state == IBV_MIG_MIGRATED && a.qkey == 1 && a.rq_psn == 2 && a.sq_psn == 3);
	assert_true(a.dest_qp_num == 4 && a.qp_access_flags == 5 && a.ah_attr.dlid == 6 && a.alt_ah_attr.dlid == 7);
	assert_true(a.cap.max_send_wr == 8 && a.cap.max_recv_wr == 9 && a.cap.max_send_sge == 10);
	assert_true(a.cap.max_recv_sge == 11 && a.cap.max_inline_data == 12 && a.pkey_index == 13);
	assert_true(a.alt_pkey_index == 14 && a.en_sqd_async_notify == 15 && a.sq_draining == 16);
	assert_true(a.max_rd_atomic == 17 && a.max_dest_rd_atomic == 18 && a.min_rnr_timer == 19);
	assert_true(a.port_num == 20 && a.timeout == 21 && a.retry_cnt == 22 && a.rnr_retry == 23);
	assert_true(a.alt_port_num == 24 && a.alt_timeout == 25);
}

static void test_path_record_packed_fields_are_taken_apart_and_exact(void **state)
{
	const struct ibv_path_data from = { .flags = 0x2b, .path = {
		.dgid.raw = { 0xfe, 0x80 }, .sgid.raw = { 0xfe, 0x81 }, .dlid = htobe16(5), .slid = htobe16(6),
		.flowlabel_hoplimit = htobe32(0xf0000000 | 0xabcde << 8 | 0x40), .tclass = 7,
		.reversible_numpath = 0x80 | 3, .pkey = htobe16(0x8001), .qosclass_sl = htobe16(0x1234),
		.mtu = 2 << 6 | 4, .rate = 1 << 6 | 3, .packetlifetime = 3 << 6 | 18, .preference = 1,
	} };
	struct ibv_sa_path_rec path;

	(void)state;
	rcm_ucma_path_decode(&from, &path);
	assert_int_equal(path.dgid.raw[1], 0x80);
	assert_int_equal(path.sgid.raw[1], 0x81);
	assert_true(path.dlid == htobe16(5) && path.slid == htobe16(6) && path.pkey == htobe16(0x8001));
	assert_true(path.flow_label == htobe32(0xabcde) && path.hop_limit == 0x40 && path.traffic_class == 7);
	assert_true(path.reversible == 1 && path.numb_path == 1 && path.sl == 4);
	assert_true(path.mtu_selector == 2 && path.mtu == 4 && path.rate_selector == 2 && path.rate == 3);
	assert_true(path.packet_life_time_selector == 2 && path.packet_life_time == 18 && path.preference == 0x2b);
}

static void test_path_record_numbers_of_six_bits_are_taken_whole(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 256; n++) {
		const struct ibv_path_data from = {
			.path = { .mtu = (uint8_t)n, .rate = (uint8_t)n, .packetlifetime = (uint8_t)n },
		};
		struct ibv_sa_path_rec path;

		rcm_ucma_path_decode(&from, &path);
		assert_true(path.mtu == n % 64 && path.rate == n % 64 && path.packet_life_time == n % 64);
		assert_int_equal(path.reversible, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_shorter_than_one_is_an_error),
		cmocka_unit_test(test_event_negative_status_keeps_its_sign),
		cmocka_unit_test(test_event_conn_request_parameters_are_complete),
		cmocka_unit_test(test_event_without_private_data_has_null),
		cmocka_unit_test(test_event_ud_parameters_carry_address_of_peer),
		cmocka_unit_test(test_qp_attr_every_field_is_taken_over),
		cmocka_unit_test(test_path_record_packed_fields_are_taken_apart_and_exact),
		cmocka_unit_test(test_path_record_numbers_of_six_bits_are_taken_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
