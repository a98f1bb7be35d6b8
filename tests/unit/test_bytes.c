/* SPDX-License-Identifier: BSD-2-Clause */
/* The bounds-checked reader and writer. */
#include "base/bytes.h"
#include "test.h"

static void test_reader_big_endian_words_are_read_in_order(void **state)
{
	const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct rcm_reader r = rcm_reader_init(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(rcm_read_u8(&r), 0x01);
	assert_int_equal(rcm_read_u16(&r), 0x0203);
	assert_int_equal(rcm_read_u32(&r), 0x04050607);
	assert_true(rcm_read_u64(&r) == 0x08090a0b0c0d0e0fULL);
	assert_int_equal(rcm_reader_left(&r), 0);
	assert_false(r.short_read);
}

static void test_reader_beyond_end_gives_zero_and_is_remembered(void **state)
{
	const uint8_t bytes[] = { 0xff, 0xff, 0xff };
	struct rcm_reader r = rcm_reader_init(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(rcm_read_u32(&r), 0);
	assert_true(r.short_read);
	assert_int_equal(rcm_read_u8(&r), 0);
	r = rcm_reader_init(bytes, sizeof(bytes));
	rcm_read_skip(&r, 4);
	assert_true(r.short_read);
	assert_int_equal(rcm_reader_left(&r), 0);
}

static void test_writer_full_buffer_is_not_overrun(void **state)
{
	uint8_t bytes[5] = { 0, 0, 0, 0, 0xee };
	struct rcm_writer w = rcm_writer_init(bytes, 4);

	(void)state;
	rcm_write_u16(&w, 0x1122);
	rcm_write_u32(&w, 0x33445566);
	assert_true(w.overflow);
	rcm_write_zeros(&w, 3);
	rcm_write_u16(&w, 0x7788);
	assert_memory_equal(bytes, "\x11\x22\x77\x88\xee", 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_big_endian_words_are_read_in_order),
		cmocka_unit_test(test_reader_beyond_end_gives_zero_and_is_remembered),
		cmocka_unit_test(test_writer_full_buffer_is_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
