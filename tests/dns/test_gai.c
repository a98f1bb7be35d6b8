/* SPDX-License-Identifier: BSD-2-Clause */
/* Another order of addresses, by gai.conf(5). A program of its own: glibc reads that file once in a process. */
#include "../unit/test.h"
#include "asker.h"

static struct outcome ours, theirs;

static void test_source_active_gai_conf_as_getaddrinfo(void **state)
{
	(void)state;
	asker_write("/etc/gai.conf", "# precedence ::ffff:0:0/96 100\n");
	asker_ask(&ours, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, "two.rai.test 2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2");
	asker_write("/etc/gai.conf", "precedence ::ffff:0:0/96 100\n");
	asker_ask(&ours, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, "two.rai.test 192.0.2.1 192.0.2.2 2001:db8::1 2001:db8::2");
	asker_libc(&theirs, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, theirs.text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_active_gai_conf_as_getaddrinfo),
	};
	int rc;

	asker_main(argc, argv);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
