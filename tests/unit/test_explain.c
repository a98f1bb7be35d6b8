/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a name was not found, in words. */
#include "dns/explain.h"

#include <arpa/inet.h>

#include "base/limits.h"
#include "test.h"

static struct rcm_resolv resolv;

static int set_up(void **state)
{
	(void)state;
	resolv = (struct rcm_resolv){ .servers_count = 3 };
	resolv.servers[0].in.sin_family = AF_INET;
	inet_pton(AF_INET, "192.0.2.1", &resolv.servers[0].in.sin_addr);
	resolv.servers[1].in6.sin6_family = AF_INET6;
	inet_pton(AF_INET6, "2001:db8::1", &resolv.servers[1].in6.sin6_addr);
	resolv.servers[2].sa.sa_family = AF_UNIX;
	return 0;
}

static void check(struct rcm_explain explain, const char *expected)
{
	char text[RCM_TEXT_MAX];

	rcm_explain(&explain, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_explain_without_a_name_server_is_of_the_hosts_file(void **state)
{
	(void)state;
	check((struct rcm_explain){ .nobody = true }, "nsswitch.conf names no source of host names");
	check((struct rcm_explain){ .nobody = true, .resolv = &resolv }, "nsswitch.conf names no source of host names");
	check((struct rcm_explain){ .known = false }, "the hosts file has no such name");
	check((struct rcm_explain){ .srv = true }, "the hosts file has no SRV records");
	check((struct rcm_explain){ .resolv = &resolv }, "the hosts file has no such name");
	check((struct rcm_explain){ .known = true, .verdict = RCM_DNS_NODATA },
	      "the hosts file has no address of the wanted family for that name");
}

static void test_explain_names_the_server_that_spoke_or_all_that_did_not(void **state)
{
	(void)state;
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_REFUSED,
				    .server = &resolv.servers[0] },
	      "name server 192.0.2.1 refused to answer (REFUSED)");
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_NODATA,
				    .server = &resolv.servers[1] },
	      "name server 2001:db8::1 has no address of the wanted family for that name");
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_NODATA, .srv = true,
				    .server = &resolv.servers[1] },
	      "name server 2001:db8::1 has no SRV record of that name");
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_NXDOMAIN, .srv = true,
				    .server = &resolv.servers[1] },
	      "name server 2001:db8::1 says that there is no such name");
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_TIMEOUT },
	      "name server 192.0.2.1 or 2001:db8::1 did not answer in time");
	resolv.servers_count = 1;
	/* Before anybody was asked. */
	check((struct rcm_explain){ .nobody = true, .resolv = &resolv, .known = true, .verdict = RCM_DNS_NOMEM },
	      "name server 192.0.2.1 was not asked: out of memory");
	check((struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_TIMEOUT },
	      "name server 192.0.2.1 did not answer in time");
}

/* Half of the room is for the reason. */
static void test_explain_names_no_more_servers_than_leave_room_for_the_reason(void **state)
{
	static const struct { size_t size; const char *text; } rows[] = {
		{ 2 * sizeof("name server 192.0.2.1 ") - 2, "name server 192.0.2.1 did not answer in tim" },
		{ 2 * sizeof("name server 192.0.2.1 "), "name server 192.0.2.1 or 2001:db8::1 did not " },
	};
	char text[RCM_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rcm_explain(&(struct rcm_explain){ .resolv = &resolv, .known = true, .verdict = RCM_DNS_TIMEOUT }, text,
			    rows[i].size);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_explain_without_a_name_server_is_of_the_hosts_file, set_up),
		cmocka_unit_test_setup(test_explain_names_the_server_that_spoke_or_all_that_did_not, set_up),
		cmocka_unit_test_setup(test_explain_names_no_more_servers_than_leave_room_for_the_reason, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
