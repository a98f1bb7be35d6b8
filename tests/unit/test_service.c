/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts. */
#include <errno.h>

#include "addr/service.h"
#include "test.h"

static void test_service_id_takes_c_notation(void **state)
{
	uint64_t id = 0;

	(void)state;
	assert_int_equal(rcm_service_id("4660", &id), 1);
	assert_int_equal(id, 4660);
	assert_int_equal(rcm_service_id("0x1000000000000001", &id), 1);
	assert_int_equal(id, 0x1000000000000001);
	assert_int_equal(rcm_service_id("017", &id), 1);
	assert_int_equal(id, 017);
	assert_int_equal(rcm_service_id("18446744073709551615", &id), 1);
	assert_int_equal(id, UINT64_MAX);
}

static void test_service_id_of_anything_else_is_a_name(void **state)
{
	static const char *const names[] = { "storage", "-1", "+1", " 1", "1 ", "0x", "08", "12ab", "x12" };
	uint64_t id = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(rcm_service_id(names[i], &id), 0);
	assert_int_equal(id, 42);
}

static void test_service_id_beyond_64_bits_is_refused(void **state)
{
	uint64_t id = 42;

	(void)state;
	assert_int_equal(rcm_service_id("18446744073709551616", &id), -EINVAL);
	assert_int_equal(rcm_service_id("0x10000000000000000", &id), -EINVAL);
	assert_int_equal(id, 42);
}

static void test_service_number_is_a_port_up_to_65535(void **state)
{
	uint16_t port = 1;

	(void)state;
	assert_int_equal(rcm_service_number("0", &port), 1);
	assert_int_equal(port, 0);
	assert_int_equal(rcm_service_number("65535", &port), 1);
	assert_int_equal(port, 65535);
	assert_int_equal(rcm_service_number("65536", &port), -ENOENT);
	assert_int_equal(rcm_service_number("99999999999999999999999", &port), -ENOENT);
	assert_int_equal(rcm_service_number("http", &port), 0);
	assert_int_equal(rcm_service_number("-1", &port), -ENOENT);
	assert_int_equal(rcm_service_number("", &port), 0);
	assert_int_equal(rcm_service_number("80 ", &port), 0);
	assert_int_equal(rcm_service_number("0x50", &port), 0);
	/* Spaces and a sign before it are taken by getaddrinfo(), too. */
	assert_int_equal(rcm_service_number(" 80", &port), 1);
	assert_int_equal(rcm_service_number("+81", &port), 1);
	assert_int_equal(port, 81);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_id_takes_c_notation),
		cmocka_unit_test(test_service_id_of_anything_else_is_a_name),
		cmocka_unit_test(test_service_id_beyond_64_bits_is_refused),
		cmocka_unit_test(test_service_number_is_a_port_up_to_65535),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
