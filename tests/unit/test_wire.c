/* SPDX-License-Identifier: BSD-2-Clause */
/* SA MADs as bytes: what is asked, and answers that are true, cut short, or lie. */
#include <errno.h>

#include "sa/wire.h"
#include "test.h"

static const struct rcm_sa_service_query by_name = { .by_name = true, .service_name = "storage" };

/* An answer to a question: its header, this offset, and room for records. */
static size_t answer_to(const uint8_t *question, unsigned stride, size_t room, uint8_t *mad)
{
	memset(mad, 0, RCM_SA_HEADER_SIZE + room);
	memcpy(mad, question, RCM_SA_HEADER_SIZE);
	mad[3] |= 0x80;
	mad[44] = (uint8_t)(stride / 8 >> 8);
	mad[45] = (uint8_t)(stride / 8);
	return RCM_SA_HEADER_SIZE + room;
}

static void test_wire_question_by_name_is_a_get_table_with_the_padded_name(void **state)
{
	uint8_t mad[RCM_MAD_SIZE], padded[64] = "storage";

	(void)state;
	rcm_wire_ask_service(&by_name, mad);
	assert_int_equal(mad[0], 1);
	assert_int_equal(mad[1], 0x03);
	assert_int_equal(mad[2], 2);
	assert_int_equal(mad[3], 0x12);
	assert_int_equal(mad[16] << 8 | mad[17], 0x31);
	assert_memory_equal(mad + 48, ((uint8_t[]){ 0, 0, 0, 0, 0, 0, 0, 0x40 }), 8);
	assert_memory_equal(mad + 56 + 48, padded, 64);
}

static void test_wire_question_has_no_sm_key_and_no_rmpp_header(void **state)
{
	uint8_t mad[RCM_MAD_SIZE], zeros[20] = { 0 };

	(void)state;
	rcm_wire_ask_service(&by_name, mad);
	assert_memory_equal(mad + 24, zeros, 20);
}

static void test_wire_question_by_id_leaves_the_name_out(void **state)
{
	struct rcm_sa_service_query q = { .by_id = true, .service_id = 0x0102030405060708, .service_name = "not" };
	uint8_t mad[RCM_MAD_SIZE], zeros[64] = { 0 };

	(void)state;
	rcm_wire_ask_service(&q, mad);
	assert_int_equal(mad[55], 0x01);
	assert_memory_equal(mad + 56, ((uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }), 8);
	assert_memory_equal(mad + 56 + 48, zeros, 64);
}

static void test_wire_question_for_a_path_is_one_reversible_path(void **state)
{
	struct rcm_sa_path_query q = { .port.raw = { 0xfe, 0x80 }, .dgid.raw = { 0xfe, 0x81 }, .pkey = 0x8001,
				       .traffic_class = 0x28 };
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	rcm_wire_ask_path(&q, mad);
	assert_int_equal(mad[3], 0x01);
	assert_int_equal(mad[16] << 8 | mad[17], 0x35);
	/* DGID, SGID, TClass, Reversible, NumbPath, P_Key; and no ServiceID */
	assert_int_equal(mad[54] << 8 | mad[55], 0x3c0c);
	assert_int_equal(mad[56 + 48], 0x28);
	assert_memory_equal(mad + 56 + 8, q.dgid.raw, 16);
	assert_memory_equal(mad + 56 + 24, q.port.raw, 16);
	assert_int_equal(mad[56 + 49], 0x81);
	assert_int_equal(mad[56 + 50] << 8 | mad[56 + 51], 0x8001);
}

/* No partition has number 0: an SA that is asked for it has no record. */
static void test_wire_question_for_a_path_of_any_partition_leaves_the_pkey_out(void **state)
{
	struct rcm_sa_path_query q = { .pkey = 0 };
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	rcm_wire_ask_path(&q, mad);
	assert_int_equal(mad[54] << 8 | mad[55], 0x1c0c);
}

static void test_wire_question_for_a_path_with_a_service_id_sets_both_its_bits(void **state)
{
	struct rcm_sa_path_query q = { .service_id = 9 };
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	rcm_wire_ask_path(&q, mad);
	assert_int_equal(mad[55], 0x0f);
	assert_int_equal(mad[56 + 7], 9);
}

static void test_wire_tid_is_the_low_half_of_the_transaction_id(void **state)
{
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	memset(mad, 0xff, sizeof(mad));
	rcm_wire_set_tid(mad, 0x01020304);
	assert_int_equal(rcm_wire_tid(mad), 0x01020304);
	assert_memory_equal(mad + 8, ((uint8_t[]){ 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 0 }), 8);
}

static void test_wire_table_counts_records_by_the_stride_of_the_sa(void **state)
{
	uint8_t question[RCM_MAD_SIZE], mad[56 + 4 * 200];
	struct rcm_wire_answer a;

	(void)state;
	rcm_wire_ask_service(&by_name, question);
	for (unsigned n = 1; n <= 3; n++) {
		assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 176, n * 176, mad), &a), 0);
		assert_int_equal(a.count, n);
		assert_int_equal(a.stride, 176);
		assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 200, n * 200, mad), &a), 0);
		assert_int_equal(a.count, n);
		assert_int_equal(a.stride, 200);
		/* The last record may come without its padding. */
		assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 200, n * 200 - 24, mad), &a), 0);
		assert_int_equal(a.count, n);
		assert_ptr_equal(a.records, mad + 56);
	}
}

static void test_wire_table_that_is_empty_has_no_records(void **state)
{
	uint8_t question[RCM_MAD_SIZE], mad[RCM_MAD_SIZE];
	struct rcm_wire_answer a;

	(void)state;
	rcm_wire_ask_service(&by_name, question);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 0, 0, mad), &a), 0);
	assert_int_equal(a.count, 0);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 176, 0, mad), &a), 0);
	assert_int_equal(a.count, 0);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 0, 200, mad), &a), 0);
	assert_int_equal(a.count, 0);
}

static void test_wire_table_that_lies_about_its_records_is_refused(void **state)
{
	uint8_t question[RCM_MAD_SIZE], mad[1024];
	struct rcm_wire_answer a;

	(void)state;
	rcm_wire_ask_service(&by_name, question);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 168, 3 * 176, mad), &a), -EPROTO);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 8, 3 * 176, mad), &a), -EPROTO);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 176, 175, mad), &a), -EPROTO);
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 176, 1, mad), &a), -EPROTO);
	/* One record, whatever its size is said to be. */
	assert_int_equal(rcm_wire_read(question, mad, answer_to(question, 0x7fff8, 300, mad), &a), 0);
	assert_int_equal(a.count, 1);
}

static void test_wire_answer_that_is_cut_short_anywhere_is_refused(void **state)
{
	uint8_t question[RCM_MAD_SIZE], mad[RCM_MAD_SIZE];
	struct rcm_wire_answer a;

	(void)state;
	rcm_wire_ask_path(&(struct rcm_sa_path_query){ .pkey = 1 }, question);
	answer_to(question, 64, 64, mad);
	for (size_t len = 0; len < 56 + 64; len++) {
		/* A copy of that length, so that a reader beyond its end is found out. */
		uint8_t *cut = malloc(len ? len : 1);

		assert_non_null(cut);
		memcpy(cut, mad, len);
		assert_int_equal(rcm_wire_read(question, cut, len, &a), -EPROTO);
		free(cut);
	}
	assert_int_equal(rcm_wire_read(question, mad, 56 + 64, &a), 0);
	assert_int_equal(a.count, 1);
}

static void test_wire_answer_to_something_else_is_refused(void **state)
{
	static const size_t fields[] = { 0, 1, 3, 16, 17 };
	uint8_t question[RCM_MAD_SIZE], mad[RCM_MAD_SIZE];
	struct rcm_wire_answer a;
	size_t len;

	(void)state;
	rcm_wire_ask_service(&by_name, question);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		len = answer_to(question, 176, 176, mad);
		mad[fields[i]] ^= 0x04;
		assert_int_equal(rcm_wire_read(question, mad, len, &a), -EPROTO);
	}
	assert_int_equal(rcm_wire_read(question, question, RCM_MAD_SIZE, &a), -EPROTO);
}

static void test_wire_answer_with_an_error_keeps_the_status_and_has_no_records(void **state)
{
	uint8_t question[RCM_MAD_SIZE], mad[RCM_MAD_SIZE];
	struct rcm_wire_answer a;
	size_t len;

	(void)state;
	rcm_wire_ask_service(&by_name, question);
	len = answer_to(question, 176, 176, mad);
	mad[4] = 0x02;
	assert_int_equal(rcm_wire_read(question, mad, len, &a), 0);
	assert_int_equal(a.status, 0x0200);
	assert_int_equal(a.count, 0);
}

static void test_wire_status_tells_what_to_do(void **state)
{
	(void)state;
	assert_int_equal(rcm_wire_verdict(0), RCM_WIRE_OK);
	assert_int_equal(rcm_wire_verdict(0x0001), RCM_WIRE_AGAIN);
	assert_int_equal(rcm_wire_verdict(0x0301), RCM_WIRE_AGAIN);
	assert_int_equal(rcm_wire_verdict(0x0100), RCM_WIRE_AGAIN);
	assert_int_equal(rcm_wire_verdict(0x0300), RCM_WIRE_NONE);
	assert_int_equal(rcm_wire_verdict(0x0304), RCM_WIRE_REFUSED);
	assert_int_equal(rcm_wire_verdict(0x0002), RCM_WIRE_REFUSED);
	assert_int_equal(rcm_wire_verdict(0x0200), RCM_WIRE_REFUSED);
	assert_int_equal(rcm_wire_verdict(0xff00), RCM_WIRE_REFUSED);
}

static void test_wire_status_has_a_name_whatever_it_is(void **state)
{
	(void)state;
	assert_string_equal(rcm_wire_status_name(0x0300), "NO_RECORDS");
	assert_string_equal(rcm_wire_status_name(0x000c), "method not supported for this attribute");
	for (unsigned status = 0; status <= UINT16_MAX; status++)
		assert_true(strlen(rcm_wire_status_name((uint16_t)status)) > 1);
}

static void test_wire_service_record_is_read_field_by_field(void **state)
{
	struct rcm_sa_service_record r;
	uint8_t bytes[176];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	memset(&r, 0xff, sizeof(r));
	rcm_wire_service_record(bytes, &r);
	assert_int_equal(r.id, 0x0102030405060708);
	assert_memory_equal(r.gid.raw, bytes + 8, 16);
	assert_int_equal(r.pkey, 0x191a);
	assert_int_equal(r.lease, 0x1d1e1f20);
	/* A name of 64 bytes has no NUL on the wire. */
	assert_int_equal(strlen(r.name), 64);
	assert_memory_equal(r.name, bytes + 48, 64);
	assert_memory_equal(r.data, bytes + 112, 64);
}

static void test_wire_service_record_matches_only_what_was_asked(void **state)
{
	struct rcm_sa_service_query q = { .by_id = true, .by_name = true, .service_id = 5, .service_name = "abc" };
	uint8_t bytes[176] = { [7] = 5, [48] = 'a', 'b', 'c' };

	(void)state;
	assert_true(rcm_wire_service_matches(&q, bytes));
	bytes[111] = 1;			/* all 64 bytes of the name count */
	assert_false(rcm_wire_service_matches(&q, bytes));
	bytes[111] = 0;
	bytes[7] = 6;
	assert_false(rcm_wire_service_matches(&q, bytes));
	q.by_id = false;
	assert_true(rcm_wire_service_matches(&q, bytes));
}

static struct rcm_sa_publication a_publication(void)
{
	struct rcm_sa_publication p = {
		.record = { .id = 0x1122334455667788, .gid = { { 0xfe, 0x80, [15] = 9 } }, .pkey = 0x8001, .lease = 120,
			    .name = "disk", .data = { 1, [63] = 2 } },
	};

	memset(p.key, 0x5a, sizeof(p.key));
	return p;
}

static void test_wire_set_names_each_component_of_the_record(void **state)
{
	static const uint8_t mask[8] = { 0, 0, 0, 0x1f, 0xff, 0xff, 0xff, 0xf7 };
	struct rcm_sa_publication p = a_publication();
	struct rcm_sa_service_record back;
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	rcm_wire_publish(&p, mad);
	assert_int_equal(mad[3], 0x02);
	assert_int_equal(mad[17], 0x31);
	assert_memory_equal(mad + 48, mask, sizeof(mask));
	rcm_wire_service_record(mad + RCM_SA_HEADER_SIZE, &back);
	assert_int_equal(back.id, p.record.id);
	assert_memory_equal(&back.gid, &p.record.gid, sizeof(back.gid));
	assert_int_equal(back.pkey, 0x8001);
	assert_int_equal(back.lease, 120);
	assert_string_equal(back.name, "disk");
	assert_memory_equal(back.data, p.record.data, sizeof(back.data));
	assert_memory_equal(mad + RCM_SA_HEADER_SIZE + 32, p.key, sizeof(p.key));
}

static void test_wire_delete_names_what_the_record_is_known_by(void **state)
{
	struct rcm_sa_publication p = a_publication();
	uint8_t mad[RCM_MAD_SIZE];

	(void)state;
	p.remove = true;
	rcm_wire_publish(&p, mad);
	assert_int_equal(mad[3], 0x15);
	assert_int_equal(mad[55], 0x27);
	assert_int_equal(mad[54], 0);
}

static void test_wire_question_for_a_place_and_key_has_both_and_matches_that_place_alone(void **state)
{
	struct rcm_sa_publication p = a_publication();
	struct rcm_sa_service_query q = {
		.by_id = true, .service_id = p.record.id, .by_gid = true, .by_pkey = true, .gid = p.record.gid, .pkey = 0x8001, .by_key = true,
	};
	uint8_t mad[RCM_MAD_SIZE], set[RCM_MAD_SIZE], *record = set + RCM_SA_HEADER_SIZE;

	(void)state;
	memcpy(q.key, p.key, sizeof(q.key));
	rcm_wire_ask_service(&q, mad);
	assert_int_equal(mad[3], 0x12);
	assert_int_equal(mad[55], 0x27);
	rcm_wire_publish(&p, set);
	assert_memory_equal(mad + RCM_SA_HEADER_SIZE, record, 28);
	assert_memory_equal(mad + RCM_SA_HEADER_SIZE + 32, p.key, sizeof(p.key));
	assert_true(rcm_wire_service_matches(&q, record));
	record[23] ^= 1;
	assert_false(rcm_wire_service_matches(&q, record));
	record[23] ^= 1;
	record[25] ^= 1;
	assert_false(rcm_wire_service_matches(&q, record));
}

/* Of a Set: GetResp. */
static void test_wire_subject_is_told_in_words(void **state)
{
	static const struct { uint16_t attribute; const char *words; } known[] = {
		{ 0x31, "service records" }, { 0x35, "path records" }, { 0x01, "how long it may take" },
		{ 0x36, "something" }, { 0x3501, "something" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const uint8_t mad[24] = { [16] = (uint8_t)(known[i].attribute >> 8), [17] = (uint8_t)known[i].attribute };

		assert_string_equal(rcm_wire_subject(mad), known[i].words);
	}
}

static void test_wire_answers_to_set_and_delete_are_read(void **state)
{
	struct rcm_sa_publication p = a_publication();
	uint8_t question[RCM_MAD_SIZE], answer[RCM_MAD_SIZE];
	struct rcm_wire_answer a;

	(void)state;
	rcm_wire_publish(&p, question);
	memcpy(answer, question, sizeof(answer));
	answer[3] = 0x81;
	assert_int_equal(rcm_wire_read(question, answer, sizeof(answer), &a), 0);
	assert_int_equal(a.count, 1);
	answer[3] = 0x82;
	assert_int_equal(rcm_wire_read(question, answer, sizeof(answer), &a), -EPROTO);
	p.remove = true;
	rcm_wire_publish(&p, question);
	answer[3] = 0x95;
	answer[4] = 0x03;
	assert_int_equal(rcm_wire_read(question, answer, sizeof(answer), &a), 0);
	assert_int_equal(a.status, 0x0300);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_set_names_each_component_of_the_record),
		cmocka_unit_test(test_wire_delete_names_what_the_record_is_known_by),
		cmocka_unit_test(test_wire_question_for_a_place_and_key_has_both_and_matches_that_place_alone),
		cmocka_unit_test(test_wire_answers_to_set_and_delete_are_read),
		cmocka_unit_test(test_wire_subject_is_told_in_words),
		cmocka_unit_test(test_wire_question_by_name_is_a_get_table_with_the_padded_name),
		cmocka_unit_test(test_wire_question_has_no_sm_key_and_no_rmpp_header),
		cmocka_unit_test(test_wire_question_by_id_leaves_the_name_out),
		cmocka_unit_test(test_wire_question_for_a_path_is_one_reversible_path),
		cmocka_unit_test(test_wire_question_for_a_path_of_any_partition_leaves_the_pkey_out),
		cmocka_unit_test(test_wire_question_for_a_path_with_a_service_id_sets_both_its_bits),
		cmocka_unit_test(test_wire_tid_is_the_low_half_of_the_transaction_id),
		cmocka_unit_test(test_wire_table_counts_records_by_the_stride_of_the_sa),
		cmocka_unit_test(test_wire_table_that_is_empty_has_no_records),
		cmocka_unit_test(test_wire_table_that_lies_about_its_records_is_refused),
		cmocka_unit_test(test_wire_answer_that_is_cut_short_anywhere_is_refused),
		cmocka_unit_test(test_wire_answer_to_something_else_is_refused),
		cmocka_unit_test(test_wire_answer_with_an_error_keeps_the_status_and_has_no_records),
		cmocka_unit_test(test_wire_status_tells_what_to_do),
		cmocka_unit_test(test_wire_status_has_a_name_whatever_it_is),
		cmocka_unit_test(test_wire_service_record_is_read_field_by_field),
		cmocka_unit_test(test_wire_service_record_matches_only_what_was_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
