/* SPDX-License-Identifier: BSD-2-Clause */
/* resolv.conf, line by line. That glibc reads the same is shown by tests/dns/test_config.c. */
#include "dns/resolv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "dns/environment.h"
#include "test.h"

static struct rcm_resolv *resolv;

static int put(void **state)
{
	(void)state;
	rcm_resolv_put(resolv);
	resolv = NULL;
	return 0;
}

static void read_text(const char *text)
{
	char path[] = "/tmp/rai-resolv-XXXXXX";
	int fd = mkstemp(path);

	rcm_resolv_put(resolv);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(rcm_resolv_read(path, &resolv), 0);
	unlink(path);
}

static void check_servers(const char *expected)
{
	char text[512] = "", one[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < resolv->servers_count; i++) {
		const union rcm_dns_address *s = &resolv->servers[i];
		const void *bytes = s->sa.sa_family == AF_INET ? (void *)&s->in.sin_addr : (void *)&s->in6.sin6_addr;
		size_t len = strlen(text);

		assert_int_equal(s->in.sin_port, htons(53));
		len += (size_t)sprintf(text + len, "%s%s", i ? " " : "",
				       inet_ntop(s->sa.sa_family, bytes, one, sizeof(one)));
		if (s->sa.sa_family == AF_INET6 && s->in6.sin6_scope_id)
			sprintf(text + len, "%%%u", s->in6.sin6_scope_id);
	}
	assert_string_equal(text, expected);
}

static void check_search(const char *expected)
{
	char text[512] = "";

	for (unsigned i = 0; i < resolv->search_count; i++)
		strcat(strcat(text, i ? " " : ""), resolv->search[i]);
	assert_string_equal(text, expected);
}

static void test_resolv_servers_of_both_families_with_scope(void **state)
{
	char expected[128];

	(void)state;
	snprintf(expected, sizeof(expected), "192.0.2.1 fe80::1%%%u 127.0.0.2", if_nametoindex("lo"));
	read_text("nameserver 192.0.2.1 trailing words\nnameserver\tfe80::1%lo\n  nameserver 192.0.2.9\n"
		  "nameserver 127.2\n nameserver\nnameserver 192.0.2.4\n");
	check_servers(expected);
	assert_int_equal(resolv->servers_count, RCM_RESOLV_SERVERS);
}

static void test_resolv_lines_that_name_no_server_are_left_out(void **state)
{
	(void)state;
	read_text("nameserver\nnameserver \nnameserver not.an.address\nnameserver 192.0.2.1;comment\nnameserver [::1]\n"
		  "NAMESERVER 192.0.2.1\nnameservers 192.0.2.1\n#nameserver 192.0.2.1\nnameserver 192.0.2.1x\n");
	check_servers("127.0.0.1");
	read_text("");
	check_servers("127.0.0.1");
}

static void test_resolv_last_list_of_domains_counts(void **state)
{
	(void)state;
	read_text("domain a.test more\n");
	check_search("a.test");
	read_text("domain a.test\nsearch b.test\tc.test  d.test\n");
	check_search("b.test c.test d.test");
	read_text("search b.test c.test\ndomain a.test\nsearch\nsearch \n");
	check_search("a.test");
	read_text("search a b c d e f g h i j\n");
	assert_int_equal(resolv->search_count, 10);
}

/* Each is a name to ask for: what a machine wrote must not keep the resolver busy for ever. */
static void test_resolv_domains_beyond_the_limit_are_left_out(void **state)
{
	static char text[sizeof("search") + 2 * (RCM_SEARCH_MAX + 10)] = "search";

	(void)state;
	for (char *at = text + strlen(text); at + 2 < text + sizeof(text); at += 2)
		memcpy(at, " a", 3);
	read_text(text);
	assert_int_equal(resolv->search_count, RCM_SEARCH_MAX);
}

static void test_resolv_options_each(void **state)
{
	(void)state;
	read_text("nameserver 192.0.2.1\n");
	assert_int_equal(resolv->ndots, 1);
	assert_int_equal(resolv->timeout_ms, 5000);
	assert_int_equal(resolv->attempts, 2);
	assert_false(resolv->rotate || resolv->use_tcp || resolv->edns || resolv->trust_ad || resolv->no_aaaa ||
		     resolv->single_request || resolv->reopen || resolv->no_tld_query || resolv->sortlist.count);
	read_text("options ndots:3 timeout:2\toptions attempts:4 rotate nonsense edns0\noptions use-vc trust-ad no-aaaa\n"
		  "options single-request single-request-reopen no-tld-query\nsortlist 192.0.2.0\n");
	assert_int_equal(resolv->ndots, 3);
	assert_int_equal(resolv->timeout_ms, 2000);
	assert_int_equal(resolv->attempts, 4);
	assert_true(resolv->rotate && resolv->use_tcp && resolv->edns && resolv->trust_ad && resolv->no_aaaa &&
		    resolv->single_request && resolv->reopen && resolv->no_tld_query);
	assert_int_equal(resolv->sortlist.count, 1);
}

static void test_resolv_numbers_have_bounds(void **state)
{
	(void)state;
	read_text("options ndots:99 timeout:99 attempts:99\n");
	assert_int_equal(resolv->ndots, 15);
	assert_int_equal(resolv->timeout_ms, 30000);
	assert_int_equal(resolv->attempts, 5);
	read_text("options ndots:0 timeout:0 attempts:0\n");
	assert_int_equal(resolv->ndots, 0);
	assert_int_equal(resolv->timeout_ms, 1000);
	assert_int_equal(resolv->attempts, 0);
}

static void forget_environment(void)
{
	unsetenv("LOCALDOMAIN");
	unsetenv("RES_OPTIONS");
	assert_int_equal(rcm_environment_take(), 0);
}

static void test_resolv_environment_goes_before_the_file(void **state)
{
	(void)state;
	setenv("LOCALDOMAIN", "env.test other.test", 1);
	setenv("RES_OPTIONS", "ndots:5 edns0", 1);
	assert_int_equal(rcm_environment_take(), 0);
	read_text("search file.test\noptions ndots:2 rotate\n");
	check_search("env.test other.test");
	assert_int_equal(resolv->ndots, 5);
	assert_true(resolv->edns && resolv->rotate);
	forget_environment();
}

static void test_resolv_localdomain_that_is_empty_searches_no_domain(void **state)
{
	(void)state;
	setenv("LOCALDOMAIN", "", 1);
	assert_int_equal(rcm_environment_take(), 0);
	read_text("search file.test\n");
	assert_int_equal(resolv->search_count, 0);
	forget_environment();
	read_text("search file.test\n");
	check_search("file.test");
}

/* It is read by a thread of ours, and only the application knows when its environment may be looked at. */
static void test_resolv_goes_by_a_copy_of_the_environment(void **state)
{
	(void)state;
	setenv("LOCALDOMAIN", "env.test", 1);
	assert_int_equal(rcm_environment_take(), 0);
	setenv("LOCALDOMAIN", "later.test", 1);
	setenv("RES_OPTIONS", "ndots:5", 1);
	read_text("search file.test\n");
	check_search("env.test");
	assert_int_equal(resolv->ndots, 1);
	forget_environment();
}

static void test_resolv_without_a_file_is_the_server_of_this_host(void **state)
{
	(void)state;
	assert_int_equal(rcm_resolv_read("/tmp/rai-there-is-no-such-file", &resolv), 0);
	check_servers("127.0.0.1");
}

static void test_resolv_without_descriptors_is_an_error(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rcm_resolv_read("/etc/passwd", &resolv), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(resolv);
}

static void test_resolv_is_the_same_where_all_is(void **state)
{
	static const char *const texts[] = {
		"nameserver 192.0.2.1\n", "nameserver 192.0.2.2\n", "nameserver 192.0.2.1\nsearch a.test\n",
		"nameserver 192.0.2.1\nsearch b.test\n", "nameserver 192.0.2.1\noptions rotate\n",
		"nameserver 192.0.2.1\noptions timeout:1\n", "nameserver 192.0.2.1\noptions single-request\n",
		"nameserver 192.0.2.1\nsortlist 10.0.0.0\n", "nameserver 192.0.2.1\nsortlist 10.0.0.0/255.255.0.0\n",
	};
	enum { COUNT = sizeof(texts) / sizeof(*texts) };
	struct rcm_resolv *all[2][COUNT];

	(void)state;
	for (int i = 0; i < 2 * COUNT; i++) {
		read_text(texts[i % COUNT]);
		all[i / COUNT][i % COUNT] = rcm_resolv_get(resolv);
	}
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			assert_int_equal(rcm_resolv_is_same(all[0][i], all[1][j]), i == j);
	assert_true(rcm_resolv_has(all[0][0], &all[1][0]->servers[0]));
	assert_false(rcm_resolv_has(all[0][0], &all[1][1]->servers[0]));
	for (int i = 0; i < 2 * COUNT; i++)
		rcm_resolv_put(all[i / COUNT][i % COUNT]);
}

#define RESOLV_TEST(f) cmocka_unit_test_teardown(f, put)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESOLV_TEST(test_resolv_servers_of_both_families_with_scope),
		RESOLV_TEST(test_resolv_lines_that_name_no_server_are_left_out),
		RESOLV_TEST(test_resolv_last_list_of_domains_counts),
		RESOLV_TEST(test_resolv_domains_beyond_the_limit_are_left_out),
		RESOLV_TEST(test_resolv_options_each),
		RESOLV_TEST(test_resolv_numbers_have_bounds),
		RESOLV_TEST(test_resolv_environment_goes_before_the_file),
		RESOLV_TEST(test_resolv_localdomain_that_is_empty_searches_no_domain),
		RESOLV_TEST(test_resolv_goes_by_a_copy_of_the_environment),
		RESOLV_TEST(test_resolv_without_a_file_is_the_server_of_this_host),
		RESOLV_TEST(test_resolv_without_descriptors_is_an_error),
		RESOLV_TEST(test_resolv_is_the_same_where_all_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
