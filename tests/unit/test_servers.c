/* SPDX-License-Identifier: BSD-2-Clause */
/* Which name server is asked first, and those that are asked no more. */
#include "dns/servers.h"

#include <arpa/inet.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "loop/timer.h"
#include "test.h"

enum { SILENT = 3 };

static struct rcm_loop loop;
static struct rcm_servers servers;
static struct rcm_resolv resolv;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_clock_use(100 * RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	rcm_servers_init(&servers, &loop, NULL, NULL);
	resolv = (struct rcm_resolv){ .servers_count = RCM_RESOLV_SERVERS };
	for (uint32_t i = 0; i < RCM_RESOLV_SERVERS; i++)
		resolv.servers[i].in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201 + i) };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_servers_done(&servers);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static struct rcm_contact *contact(unsigned i)
{
	return rcm_servers_get(&servers, &resolv.servers[i]);
}

static void be_silent(unsigned i)
{
	contact(i)->known.silent = SILENT;
	contact(i)->known.probed_at = loop.now;
}

static void check(const char *expected)
{
	uint8_t order[RCM_RESOLV_SERVERS];
	char text[RCM_RESOLV_SERVERS + 1] = "";

	rcm_servers_order(&servers, &resolv, order);
	for (unsigned i = 0; i < resolv.servers_count; i++)
		text[i] = (char)('0' + order[i]);
	assert_string_equal(text, expected);
}

static void test_servers_are_asked_as_configured_or_in_turn(void **state)
{
	(void)state;
	check("012");
	check("012");
	resolv.rotate = true;
	check("012");
	check("120");
	check("201");
	check("012");
	resolv.servers_count = 2;
	check("01");
	check("10");
}

static void test_servers_that_were_silent_are_asked_last_but_for_a_probe(void **state)
{
	(void)state;
	be_silent(0);
	check("120");
	be_silent(1);
	check("201");
	be_silent(2);
	check("012");
	loop.now += 10 * RCM_NS_PER_S;
	be_silent(1);
	/* The first and the last are due. */
	check("021");
	check("012");
	/* One alone is the last in any case, and needs no probe. */
	resolv.servers_count = 1;
	contact(0)->known.probed_at = 1;
	check("0");
	assert_int_equal(contact(0)->known.probed_at, 1);
}

static void test_servers_each_has_one_contact(void **state)
{
	struct rcm_contact *first = contact(0), *second = contact(1);

	(void)state;
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(contact(0), first);
	assert_ptr_equal(contact(1), second);
	assert_memory_equal(&second->known.address, &resolv.servers[1], sizeof(resolv.servers[1]));
	assert_memory_equal(&second->udp.address, &resolv.servers[1], sizeof(resolv.servers[1]));
	assert_memory_equal(&second->tcp.address, &resolv.servers[1], sizeof(resolv.servers[1]));
}

/* Later, as one of their sockets may be what brought us here. */
static void test_servers_that_are_asked_no_more_go_soon_and_come_back_as_others(void **state)
{
	struct rcm_contact *kept = contact(0), *lost = contact(2);

	(void)state;
	be_silent(2);
	resolv.servers_count = 2;
	rcm_servers_keep(&servers, &resolv);
	assert_true(lost->gone);
	assert_false(kept->gone);
	assert_ptr_equal(contact(0), kept);
	assert_ptr_not_equal(contact(2), lost);
	resolv.servers_count = 3;
	check("012");
	rcm_timers_fire(&loop, loop.now);
	assert_ptr_equal(TAILQ_FIRST(&servers.contacts), kept);
	assert_ptr_equal(TAILQ_NEXT(kept, entry), contact(2));
	assert_null(TAILQ_NEXT(contact(2), entry));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_servers_are_asked_as_configured_or_in_turn),
		T(test_servers_that_were_silent_are_asked_last_but_for_a_probe),
		T(test_servers_each_has_one_contact),
		T(test_servers_that_are_asked_no_more_go_soon_and_come_back_as_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
