/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
	assert_int_equal(rcm_service_number("-1", &port), 0);
	assert_int_equal(rcm_service_number("", &port), 0);
}

static void test_service_port_is_looked_up_by_protocol_and_again_from_memory(void **state)
{
	uint16_t port;

	(void)state;
	for (int i = 0; i < 2; i++) {
		port = 0;
		assert_int_equal(rcm_service_port("http", false, &port), 0);
		assert_int_equal(port, 80);
		assert_int_equal(rcm_service_port("tftp", true, &port), 0);
		assert_int_equal(port, 69);
		assert_int_equal(rcm_service_port("tftp", false, &port), -ENOENT);
		assert_int_equal(rcm_service_port("no-such-service", false, &port), -ENOENT);
		assert_int_equal(port, 69);
	}
}

static void test_service_port_of_more_names_than_are_remembered_stays_right(void **state)
{
	uint16_t port;
	char name[32];

	(void)state;
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "none-%d", i);
		assert_int_equal(rcm_service_port(name, false, &port), -ENOENT);
	}
	assert_int_equal(rcm_service_port("http", false, &port), 0);
	assert_int_equal(port, 80);
}

static void test_service_port_of_a_name_too_long_to_exist_is_not_found(void **state)
{
	char name[300];
	uint16_t port;

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(rcm_service_port(name, false, &port), -ENOENT);
}

/* Whether an nsswitch.conf with that text leaves services to local files. */
static bool local_by(const char *text)
{
	char path[] = "/tmp/nsswitch.XXXXXX";
	int fd = mkstemp(path);
	bool local;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	local = rcm_service_is_local_in(path);
	unlink(path);
	return local;
}

static void test_service_names_are_local_where_nsswitch_has_only_files_for_them(void **state)
{
	(void)state;
	assert_true(rcm_service_is_local_in("/nonexistent/nsswitch.conf"));
	assert_true(local_by(""));
	assert_true(local_by("hosts: files dns sss\n# services: sss\n"));
	assert_true(local_by("services: files\n"));
	assert_true(local_by("  services:\tdb  files"));
	assert_true(local_by("services: db [ NOTFOUND = return ] files [!UNAVAIL=return]\n"));
}

static void test_service_names_are_not_local_where_nsswitch_has_another_module(void **state)
{
	(void)state;
	assert_false(local_by("services: files sss\n"));
	assert_false(local_by("passwd: files\nservices:ldap files\n"));
	assert_false(local_by("services: db [NOTFOUND=return] nis"));
	assert_false(local_by("services: FILES\n"));
	assert_false(local_by("services: files\nservices: sss\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_id_takes_c_notation),
		cmocka_unit_test(test_service_id_of_anything_else_is_a_name),
		cmocka_unit_test(test_service_id_beyond_64_bits_is_refused),
		cmocka_unit_test(test_service_number_is_a_port_up_to_65535),
		cmocka_unit_test(test_service_port_is_looked_up_by_protocol_and_again_from_memory),
		cmocka_unit_test(test_service_port_of_more_names_than_are_remembered_stays_right),
		cmocka_unit_test(test_service_port_of_a_name_too_long_to_exist_is_not_found),
		cmocka_unit_test(test_service_names_are_local_where_nsswitch_has_only_files_for_them),
		cmocka_unit_test(test_service_names_are_not_local_where_nsswitch_has_another_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
