/* SPDX-License-Identifier: BSD-2-Clause */
/* One record of a message. */
#include "dns/rr.h"

#include "base/bytes.h"
#include "test.h"

static uint8_t bytes[512];
static size_t len;

/* A record of the root, with data of that many octets. */
static void make(uint16_t type, uint16_t class, uint32_t ttl, const uint8_t *data, uint16_t size)
{
	struct rcm_writer w = rcm_writer_init(bytes, sizeof(bytes));

	rcm_write_u8(&w, 0);
	rcm_write_u16(&w, type);
	rcm_write_u16(&w, class);
	rcm_write_u32(&w, ttl);
	rcm_write_u16(&w, size);
	rcm_write_bytes(&w, data, size);
	len = (size_t)(w.at - bytes);
}

/* Both readers read alike. */
static bool reads(size_t of_len, struct rcm_rr *ret_rr, size_t *ret_at)
{
	uint8_t *copy = malloc(of_len + !of_len);
	size_t at = 0, again_at = 0;
	struct rcm_rr again;
	bool read;

	assert_non_null(copy);
	memcpy(copy, bytes, of_len);
	read = rcm_rr_read(copy, of_len, &at, ret_rr);
	assert_int_equal(rcm_rr_read_again(copy, of_len, &again_at, &again), read);
	assert_int_equal(at, again_at);
	if (read)
		assert_true(again.type == ret_rr->type && again.ttl == ret_rr->ttl && again.data == ret_rr->data &&
			    again.size == ret_rr->size && again.owner == ret_rr->owner);
	*ret_at = at;
	free(copy);
	return read;
}

static void test_rr_is_read_with_its_type_and_ttl_as_far_as_they_mean_something(void **state)
{
	static const struct { uint16_t type, class; uint32_t ttl; uint16_t type_then; uint32_t ttl_then; } rows[] = {
		{ ns_t_a, ns_c_in, 60, ns_t_a, 60 }, { ns_t_a, ns_c_chaos, 60, 0, 60 },
		{ ns_t_a, ns_c_in, INT32_MAX, ns_t_a, INT32_MAX }, { ns_t_a, ns_c_in, INT32_MAX + 1u, ns_t_a, 0 },
		{ ns_t_a, ns_c_in, UINT32_MAX, ns_t_a, 0 },
		/* Of OPT class and TTL are something else. */
		{ ns_t_opt, 1232, 0x81000000, ns_t_opt, 0x81000000 },
	};
	static const uint8_t data[4] = { 192, 0, 2, 1 };
	struct rcm_rr rr;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make(rows[i].type, rows[i].class, rows[i].ttl, data, sizeof(data));
		assert_true(reads(len, &rr, &at));
		assert_int_equal(at, len);
		assert_int_equal(rr.owner, 0);
		assert_int_equal(rr.type, rows[i].type_then);
		assert_int_equal(rr.ttl, rows[i].ttl_then);
		assert_int_equal(rr.size, 4);
		assert_memory_equal(bytes + rr.data, data, 4);
	}
}

static void test_rr_that_is_cut_anywhere_is_none_and_leaves_the_place(void **state)
{
	struct rcm_rr rr;
	size_t at;

	(void)state;
	make(ns_t_a, ns_c_in, 60, (const uint8_t[4]){ 1 }, 4);
	for (size_t cut = 0; cut < len; cut++) {
		assert_false(reads(cut, &rr, &at));
		assert_int_equal(at, 0);
	}
}

static void test_rr_data_fits_its_type_by_length_alone(void **state)
{
	static const struct { uint16_t type, size; } rows[] = {
		{ ns_t_a, 4 }, { ns_t_aaaa, 16 }, { ns_t_srv, 7 }, { ns_t_cname, UINT16_MAX }, { 0, UINT16_MAX },
	};
	static const uint8_t data[32];
	struct rcm_rr rr;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (uint16_t size = 0; size < sizeof(data); size++) {
			make(rows[i].type, ns_c_in, 60, data, size);
			/* Something stands behind it. */
			bytes[len] = bytes[len + 1] = 0;
			assert_true(reads(len + 2, &rr, &at));
			assert_int_equal(rcm_rr_fits(bytes, len + 2, &rr), size == rows[i].size);
		}
}

static void test_rr_of_a_service_has_its_numbers_and_its_target(void **state)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 1, 'a', 0 }, target[] = { 1, 'a', 0 };
	struct rcm_rr_srv srv;
	struct rcm_rr rr;
	size_t at;

	(void)state;
	make(ns_t_srv, ns_c_in, 60, data, sizeof(data));
	assert_true(reads(len, &rr, &at));
	bytes[len] = 0;
	assert_true(rcm_rr_fits(bytes, len + 1, &rr));
	assert_true(rcm_rr_read_srv(bytes, len + 1, &rr, &srv));
	assert_int_equal(srv.priority, 0x0102);
	assert_int_equal(srv.weight, 0x0304);
	assert_int_equal(srv.port, 0x0506);
	assert_memory_equal(srv.target, target, sizeof(target));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rr_is_read_with_its_type_and_ttl_as_far_as_they_mean_something),
		cmocka_unit_test(test_rr_that_is_cut_anywhere_is_none_and_leaves_the_place),
		cmocka_unit_test(test_rr_data_fits_its_type_by_length_alone),
		cmocka_unit_test(test_rr_of_a_service_has_its_numbers_and_its_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
