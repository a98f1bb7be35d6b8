/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts file. */
#include "dns/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "test.h"

static char path[] = "/tmp/rai-hosts-XXXXXX";

static struct rcm_hosts *read_text(const char *text, bool first_line_only)
{
	struct rcm_hosts *hosts;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(rcm_hosts_read(path, first_line_only, &hosts), 0);
	return hosts;
}

/* Asserts that name has these addresses, "a b c" (NULL: none), and this canonical name. */
static void check(const struct rcm_hosts *hosts, const char *name, int family, const char *expected,
		  const char *canonname)
{
	union rcm_dns_address *addresses = NULL;
	const char *found = NULL;
	char text[256] = "";
	int count = rcm_hosts_find(hosts, name, family, &addresses, &found);

	for (int i = 0; i < count; i++) {
		char one[INET6_ADDRSTRLEN];
		const void *bytes = addresses[i].sa.sa_family == AF_INET ? (void *)&addresses[i].in.sin_addr :
									   (void *)&addresses[i].in6.sin6_addr;

		assert_non_null(inet_ntop(addresses[i].sa.sa_family, bytes, one, sizeof(one)));
		strcat(strcat(text, i ? " " : ""), one);
	}
	assert_int_equal(!count, !expected);
	if (expected) {
		assert_string_equal(text, expected);
		assert_string_equal(found, canonname);
	}
	free(addresses);
}

static void test_hosts_all_lines_of_a_name_in_order_and_by_family(void **state)
{
	struct rcm_hosts *hosts = read_text("192.0.2.1 one\n2001:db8::1 other one\n192.0.2.2 one\n", false);

	(void)state;
	check(hosts, "one", AF_UNSPEC, "192.0.2.1 2001:db8::1 192.0.2.2", "one");
	check(hosts, "one", AF_INET, "192.0.2.1 192.0.2.2", "one");
	check(hosts, "one", AF_INET6, "2001:db8::1", "other");
	check(hosts, "other", AF_INET, NULL, NULL);
	check(hosts, "two", AF_UNSPEC, NULL, NULL);
	rcm_hosts_free(hosts);
}

static void test_hosts_first_line_only_where_host_conf_wants_it(void **state)
{
	struct rcm_hosts *hosts = read_text("192.0.2.1 one\n2001:db8::1 one\n192.0.2.2 one\n", true);

	(void)state;
	check(hosts, "one", AF_UNSPEC, "192.0.2.1", "one");
	check(hosts, "one", AF_INET6, "2001:db8::1", "one");
	rcm_hosts_free(hosts);
}

static void test_hosts_odd_lines_are_skipped_and_good_ones_kept(void **state)
{
	struct rcm_hosts *hosts = read_text("# 192.0.2.9 one\n192.0.2.8\nnonsense one\n192.0.2 one\nfe80::1%lo one\n"
					    "  192.0.2.1\tONE  two#three\r\n192.0.2.2 one one\n192.0.2.3 last", false);

	(void)state;
	check(hosts, "one", AF_UNSPEC, "192.0.2.1 192.0.2.2", "ONE");
	check(hosts, "Two", AF_UNSPEC, "192.0.2.1", "ONE");
	check(hosts, "three", AF_UNSPEC, NULL, NULL);
	check(hosts, "last", AF_UNSPEC, "192.0.2.3", "last");
	check(hosts, "", AF_UNSPEC, NULL, NULL);
	rcm_hosts_free(hosts);
}

static void test_hosts_ipv4_of_mapped_and_loopback_lines(void **state)
{
	struct rcm_hosts *hosts = read_text("::ffff:192.0.2.7 mapped\n::1 me\n", false);

	(void)state;
	check(hosts, "mapped", AF_INET, "192.0.2.7", "mapped");
	check(hosts, "me", AF_INET, "127.0.0.1", "me");
	check(hosts, "me", AF_UNSPEC, "::1", "me");
	rcm_hosts_free(hosts);
}

static void test_hosts_name_longer_than_any_is_not_found(void **state)
{
	struct rcm_hosts *hosts = read_text("192.0.2.1 one\n", false);
	char name[RCM_NODE_MAX * 4];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	check(hosts, name, AF_UNSPEC, NULL, NULL);
	rcm_hosts_free(hosts);
}

static void test_hosts_names_up_to_the_longest_are_found(void **state)
{
	char name[RCM_NODE_MAX + 1] = "", line[RCM_NODE_MAX + 32];

	(void)state;
	for (size_t len = RCM_NODE_MAX - 3; len <= RCM_NODE_MAX; len++) {
		struct rcm_hosts *hosts;

		memset(name, 'x', len);
		snprintf(line, sizeof(line), "192.0.2.1 %s\n", name);
		hosts = read_text(line, false);
		check(hosts, name, AF_UNSPEC, "192.0.2.1", name);
		rcm_hosts_free(hosts);
	}
}

static void test_hosts_file_that_is_not_there_is_empty_and_a_huge_one_refused(void **state)
{
	struct rcm_hosts *hosts;

	(void)state;
	assert_int_equal(rcm_hosts_read("/nonexistent/hosts", false, &hosts), 0);
	check(hosts, "localhost", AF_UNSPEC, NULL, NULL);
	rcm_hosts_free(hosts);
	assert_int_equal(truncate(path, RCM_HOSTS_BYTES_MAX + 1), 0);
	assert_int_equal(rcm_hosts_read(path, false, &hosts), -EFBIG);
	rcm_hosts_free(NULL);
	assert_int_equal(truncate(path, RCM_HOSTS_BYTES_MAX), 0);
	assert_int_equal(rcm_hosts_read(path, false, &hosts), 0);
	rcm_hosts_free(hosts);
}

static void test_hosts_many_names_are_all_found(void **state)
{
	struct rcm_hosts *hosts;
	FILE *file = fopen(path, "w");
	char name[32], address[32];

	(void)state;
	for (int i = 0; i < 20000; i++)
		fprintf(file, "10.0.%d.%d host%d alias%d\n", i / 256, i % 256, i, i);
	fclose(file);
	assert_int_equal(rcm_hosts_read(path, false, &hosts), 0);
	for (int i = 0; i < 20000; i += 997) {
		snprintf(name, sizeof(name), "alias%d", i);
		snprintf(address, sizeof(address), "10.0.%d.%d", i / 256, i % 256);
		union rcm_dns_address *found;
		const char *canonname;

		assert_int_equal(rcm_hosts_find(hosts, name, AF_INET, &found, &canonname), 1);
		assert_int_equal(found->in.sin_addr.s_addr, inet_addr(address));
		free(found);
	}
	rcm_hosts_free(hosts);
}

static int make_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_hosts_without_descriptors_is_an_error_not_an_empty_file(void **state)
{
	struct rcm_hosts *hosts = NULL;
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_hosts_read("/etc/hosts", false, &hosts), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(hosts);
}

/* A file of /proc that opens, and whose first page can't be read: as on a disk that breaks. */
static void test_hosts_file_that_breaks_off_is_an_error_not_a_shorter_file(void **state)
{
	struct rcm_hosts *hosts = NULL;

	(void)state;
	assert_int_equal(rcm_hosts_read("/proc/self/mem", false, &hosts), -EIO);
	assert_null(hosts);
	/* One that is a directory is as if there were none, for glibc as well. */
	assert_int_equal(rcm_hosts_read("/proc", false, &hosts), 0);
	rcm_hosts_free(hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_all_lines_of_a_name_in_order_and_by_family),
		cmocka_unit_test(test_hosts_first_line_only_where_host_conf_wants_it),
		cmocka_unit_test(test_hosts_odd_lines_are_skipped_and_good_ones_kept),
		cmocka_unit_test(test_hosts_ipv4_of_mapped_and_loopback_lines),
		cmocka_unit_test(test_hosts_name_longer_than_any_is_not_found),
		cmocka_unit_test(test_hosts_names_up_to_the_longest_are_found),
		cmocka_unit_test(test_hosts_file_that_is_not_there_is_empty_and_a_huge_one_refused),
		cmocka_unit_test(test_hosts_many_names_are_all_found),
		cmocka_unit_test(test_hosts_without_descriptors_is_an_error_not_an_empty_file),
		cmocka_unit_test(test_hosts_file_that_breaks_off_is_an_error_not_a_shorter_file),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
