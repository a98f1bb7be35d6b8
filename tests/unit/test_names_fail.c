/* SPDX-License-Identifier: BSD-2-Clause */
/* How names end that are not found, by scripted name servers: status, code, words, and the line in the log. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "dns/lookup.h"
#include "fake_families.h"
#include "names_asker.h"
#include "test.h"

/* Nothing is asked any further where this process could not ask. */
static void test_names_without_memory_or_descriptors_end(void **state)
{
	static const struct {
		enum rcm_dns_verdict verdict;
		int status, code;
		const char *why;
	} rows[] = {
		{ RCM_DNS_NOMEM, -ENOMEM, EAI_MEMORY, "out of memory" },
		{ RCM_DNS_NOFILE, -EMFILE, EAI_SYSTEM, "out of file descriptors" },
	};
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
	/* While it asks, or where it can't begin to. */
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		fake_families_refuse(i % 2 ? rows[i / 2].status : 0);
		start(&r, "short");
		turn();
		if (!(i % 2))
			fail_next("short.x.test", rows[i / 2].verdict);
		assert_int_equal(r.done, 1);
		assert_int_equal(r.status, rows[i / 2].status);
		assert_int_equal(r.code, rows[i / 2].code);
		assert_non_null(strstr(r.text, rows[i / 2].why));
	}
}

static void fail_and_log(int fd)
{
	struct result r;

	open_names(NULL);	/* here: the library's descriptors don't outlive a fork */
	setenv("RAI_LOG", "info", 1);
	dup2(fd, STDERR_FILENO);
	start_as(&r, "a\nb.test", AF_INET, RCM_DNS_CONFIGURED);
	turn();
	start_as(&r, "a.test", AF_INET, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("a.test", AF_INET), RCM_DNS_TIMEOUT);
	turn();
	_exit(0);
}

/* In a process of its own: the environment is read once. */
static void test_names_failed_one_leaves_a_line_in_the_log(void **state)
{
	char text[512] = "";
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid)
		fail_and_log(fds[1]);
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	close(fds[0]);
	assert_string_equal(text, "rai: info: dns: \"a?b.test\": name server 127.0.0.1 was not asked: "
				  "no host can have that name\n"
				  "rai: info: dns: \"a.test\": name server 127.0.0.1 did not answer in time\n");
}

static void test_names_text_names_who_said_so_or_all_who_were_asked(void **state)
{
	const union rcm_dns_address server = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000207) } };
	struct result r;

	(void)state;
	fake_families_speaker(&server);
	start_as(&r, "a.test", AF_INET, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("a.test", AF_INET), RCM_DNS_SERVFAIL);
	turn();
	assert_string_equal(r.text, "name server 192.0.2.7 failed for now (SERVFAIL)");
	fake_families_speaker(NULL);
	start_as(&r, "a.test", AF_INET, RCM_DNS_CONFIGURED);
	turn();
	fake_families_fail(fake_families_take("a.test", AF_INET), RCM_DNS_TIMEOUT);
	turn();
	assert_string_equal(r.text, "name server 127.0.0.1 did not answer in time");
}

static void test_names_that_no_host_can_have_are_not_asked_about(void **state)
{
	static const char *const bad[] = {
		"a b", "a\tb", "[live]", "a:b", "a%b", "-a", "a/b", "*", "a@b", "a,b", "\x80", "\xff.test", "a\\.b",
		"a\\032b", "1.2.3.4 ",
	};
	struct result r;

	(void)state;
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x.test\n"), NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		start(&r, bad[i]);
		turn();
		assert_int_equal(fake_families_out(), 0);
		assert_int_equal(r.done, 1);
		assert_int_equal(r.status, -ENOENT);
		assert_int_equal(r.code, EAI_NONAME);
		assert_non_null(strstr(r.text, "no host can have that name"));
	}
	/* A domain that makes it one is left out, the others are asked. */
	rcm_names_configure(names, files_dns, make_resolv(LOCAL "search x@y.test\n"), NULL);
	start(&r, "short");
	turn();
	fail_next("short", RCM_DNS_NXDOMAIN);
	assert_int_equal(r.status, -ENOENT);
}

static void test_names_too_long_are_refused(void **state)
{
	char name[RCM_NODE_MAX + 10];
	struct rcm_dns_query query = { .name = name, .family = AF_INET };
	struct rcm_dns_lookup *lookup;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[RCM_NODE_MAX + 2] = '\0';
	assert_int_equal(rcm_names_start(names, &query, done, NULL, &lookup), -ENAMETOOLONG);
	/* One more than a name has is its last dot. */
	name[RCM_NODE_MAX + 1] = '\0';
	assert_int_equal(rcm_names_start(names, &query, done, NULL, &lookup), 0);
	lookup->ops->cancel(lookup);
}

#define NAMES_TEST(f) cmocka_unit_test_setup_teardown(f, open_names, close_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_failed_one_leaves_a_line_in_the_log),	/* before any other logs */
		NAMES_TEST(test_names_without_memory_or_descriptors_end),
		NAMES_TEST(test_names_text_names_who_said_so_or_all_who_were_asked),
		NAMES_TEST(test_names_that_no_host_can_have_are_not_asked_about),
		NAMES_TEST(test_names_too_long_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
