/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by UDP from server to server: real sockets on loopback, name servers in the test, a clock that stands still. */
#include <errno.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "base/tell.h"
#include "name_asker.h"
#include "test.h"

static bool no_random;

ssize_t __real_getrandom(void *bytes, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t len, unsigned flags);

ssize_t __wrap_getrandom(void *bytes, size_t len, unsigned flags)
{
	if (!no_random)
		return __real_getrandom(bytes, len, flags);
	errno = EAGAIN;
	return -1;
}

static void test_exchange_both_families_are_asked_together_from_one_port(void **state)
{
	struct name_server_question a, aaaa;
	struct asked asked;

	(void)state;
	ask(&asked, "two.test", AF_UNSPEC);
	take(0, &a);
	take(0, &aaaa);
	assert_int_equal(a.type, ns_t_a);
	assert_int_equal(aaaa.type, ns_t_aaaa);
	assert_string_equal(aaaa.name, "two.test");
	assert_int_equal(a.port, aaaa.port);
	assert_int_not_equal(a.id, aaaa.id);
	assert_false(a.edns || a.ad);
	name_server_answer(&aaaa);
	turn();
	assert_false(asked.done);
	name_server_answer(&a);
	turn();
	check(&asked, RCM_DNS_FOUND, 2);
	assert_false(asked.half);
}

static void test_exchange_silent_server_s_time_over_the_next_is_asked_round_by_round(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options timeout:3 attempts:2\n");
	ask(&asked, "a.test", AF_INET);
	for (unsigned i = 0; i < 4; i++) {
		take(i % 2, &q);
		name_server_assert_quiet();
		advance_ms(2999);
		assert_false(asked.done);
		name_server_assert_quiet();
		advance_ms(1);
	}
	check(&asked, RCM_DNS_TIMEOUT, 0);
	assert_null(asked.speaker);
	/* What comes now finds nobody. */
	name_server_answer(&q);
	turn();
}

static void test_exchange_server_that_can_not_or_will_not_sends_on_to_the_next(void **state)
{
	static const struct {
		int rcode;
		enum rcm_dns_verdict verdict;
	} rows[] = { { ns_r_servfail, RCM_DNS_SERVFAIL }, { ns_r_notimpl, RCM_DNS_NOTIMP },
		     { ns_r_refused, RCM_DNS_REFUSED } };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options attempts:1\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		name_server_fail(&q, rows[i].rcode);
		turn_twice();
		take(1, &q);
		name_server_answer(&q);
		turn();
		check(&asked, RCM_DNS_FOUND, 1);
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		name_server_fail(&q, rows[i].rcode);
		turn_twice();
		take(1, &q);
		advance_ms(5000);
		/* Who spoke is told, not who didn't. */
		check(&asked, rows[i].verdict, 0);
		assert_ptr_equal(asked.speaker, &resolv->servers[0]);
	}
}

static void test_exchange_answer_about_the_name_ends_it(void **state)
{
	static const struct {
		int rcode;
		enum rcm_dns_verdict verdict;
	} rows[] = { { ns_r_noerror, RCM_DNS_NODATA }, { ns_r_nxdomain, RCM_DNS_NXDOMAIN },
		     { ns_r_formerr, RCM_DNS_FORMERR }, { ns_r_yxdomain, RCM_DNS_OTHER_RCODE } };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options attempts:2\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		name_server_fail(&q, rows[i].rcode);
		turn_twice();
		check(&asked, rows[i].verdict, 0);
		assert_ptr_equal(asked.speaker, &resolv->servers[0]);
	}
}

/* P4: neither an authority nor one who asks others, and nothing to say. */
static void test_exchange_lame_server_sends_on_to_the_next(void **state)
{
	static struct dns_message message;
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options attempts:1\n");
	for (int i = 0; i < 2; i++) {
		ask(&asked, "a.test", AF_INET);
		for (unsigned server = 0; server < 2 - (unsigned)i; server++) {
			take(server, &q);
			name_server_begin(&message, &q, 0);
			message.bytes[3] &= 0x7f;	/* no RA */
			if (i)
				message.bytes[2] |= 0x04;	/* AA */
			name_server_send(&q, &message);
			turn_twice();
		}
		check(&asked, i ? RCM_DNS_NODATA : RCM_DNS_LAME, 0);
	}
}

static void test_exchange_malformed_answer_sends_on_to_the_next(void **state)
{
	static struct dns_message message;
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options attempts:1\n");
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_begin(&message, &q, 0);
	message.bytes[7] = 1;
	name_server_send(&q, &message);
	turn_twice();
	take(1, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_exchange_server_that_is_not_there_sends_on_at_once(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options attempts:1\n");
	name_server_listen(0, false, false);
	ask(&asked, "a.test", AF_UNSPEC);
	turn_twice();
	turn_twice();
	take(1, &q);
	name_server_answer(&q);
	take(1, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 2);
	name_server_listen(1, false, false);
	ask(&asked, "a.test", AF_INET);
	for (int i = 0; i < 4; i++)
		turn_twice();
	check(&asked, RCM_DNS_UNREACHABLE, 0);
}

/* RFC 5452: what isn't the answer is dropped, counted, and does no harm. */
static void test_exchange_only_the_answer_to_the_question_counts(void **state)
{
	static struct dns_message message;
	struct name_server_question q, other;
	struct asked asked;

	(void)state;
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	other = q;
	other.id ^= 1;
	name_server_answer(&other);
	other = q;
	strcpy(other.name, "b.test");
	name_server_answer(&other);
	other = q;
	other.type = ns_t_aaaa;
	name_server_answer(&other);
	other = q;
	other.server = 1;
	name_server_answer(&other);
	message.len = 1;
	name_server_send(&q, &message);
	turn();
	assert_false(asked.done);
	/* The other server's never came: the socket is connected. */
	assert_int_equal(servers.carry.dropped, 4);
	name_server_answer(&q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	turn();
	assert_int_equal(servers.carry.dropped, 5);
}

/* D10: a turn takes so many messages and no more. */
static void test_exchange_flood_leaves_the_loop_time_for_others(void **state)
{
	static struct dns_message message = { .len = 12 };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	for (int i = 0; i < 300; i++)
		name_server_send(&q, &message);
	turn();
	assert_int_equal(servers.carry.dropped, 128);
	name_server_answer(&q);
	turn();
	assert_int_equal(servers.carry.dropped, 256);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

/* P1: a server may send more than 512 octets to who didn't say what fits. */
static void test_exchange_answer_of_any_size_is_taken(void **state)
{
	static struct dns_message message;
	struct name_server_question q;
	struct asked asked;

	(void)state;
	for (unsigned count = 60; count <= 2600; count += 2540) {
		ask(&asked, "a", AF_INET);
		take(0, &q);
		name_server_begin(&message, &q, 0);
		for (unsigned i = 0; i < count; i++)
			dns_message_add(&message, "a", ns_t_a, 60, "192.0.2.1");
		name_server_send(&q, &message);
		turn();
		check(&asked, RCM_DNS_FOUND, count);
	}
}

static void test_exchange_edns_refused_is_asked_without_and_remembered(void **state)
{
	static const int rcodes[] = { ns_r_formerr, ns_r_notimpl };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	for (int i = 0; i < 2; i++) {
		configure(1, "options edns0 trust-ad\n");
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		assert_true(q.edns && q.ad);
		name_server_fail(&q, rcodes[i]);
		turn_twice();
		take(0, &q);
		assert_false(q.edns);
		name_server_answer(&q);
		turn();
		check(&asked, RCM_DNS_FOUND, 1);
		ask(&asked, "b.test", AF_INET);
		take(0, &q);
		assert_false(q.edns);
		name_server_fail(&q, rcodes[i]);
		turn_twice();
		if (i)
			advance_ms(5000), take(0, &q), advance_ms(5000);
		assert_true(asked.done);
		/* Not for ever. */
		advance_ms(400000);
		ask(&asked, "c.test", AF_INET);
		take(0, &q);
		assert_true(q.edns);
		name_server_answer(&q);
		turn();
	}
}

static void test_exchange_with_rotate_the_next_name_begins_at_the_next_server(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(3, "options rotate\n");
	for (unsigned i = 0; i < 6; i++) {
		ask(&asked, "a.test", AF_UNSPEC);
		for (int j = 0; j < 2; j++) {
			take(i % 3, &q);
			name_server_answer(&q);
		}
		turn();
		check(&asked, RCM_DNS_FOUND, 2);
	}
}

/* P11: a dead first server must not cost each name its time. */
static void test_exchange_server_silent_in_a_row_is_asked_last(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(2, "options timeout:5\n");
	for (int i = 0; i < 3; i++) {
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		advance_ms(5000);
		take(1, &q);
		name_server_answer(&q);
		turn();
		check(&asked, RCM_DNS_FOUND, 1);
	}
	ask(&asked, "a.test", AF_INET);
	take(1, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	/* Now and then it is tried, for a second. */
	advance_ms(11000);
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	advance_ms(999);
	name_server_assert_quiet();
	advance_ms(1);
	take(1, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
	advance_ms(11000);
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_exchange_ports_change_after_so_many_questions_and_ids_are_never_twice(void **state)
{
	enum { NAMES = 2 * RCM_DNS_SOCKET_QUESTIONS };
	static bool ids[65536];
	unsigned ports = 0, same = 0;
	uint16_t before = 0;
	struct asked asked;

	(void)state;
	memset(ids, 0, sizeof(ids));
	for (unsigned i = 0; i < NAMES; i++) {
		struct name_server_question q;

		ask(&asked, "a.test", AF_UNSPEC);
		for (int j = 0; j < 2; j++) {
			take(0, &q);
			same += ids[q.id];
			ids[q.id] = true;
			ports += q.port != before;
			assert_true(q.port == before || (2 * i + (unsigned)j) % RCM_DNS_SOCKET_QUESTIONS == 0);
			before = q.port;
			name_server_answer(&q);
		}
		turn();
	}
	assert_int_equal(ports, 4);
	/* 1,024 of 65,536 at random: some 8 pairs are to be expected, none would be as odd as 40. */
	assert_uint_in_range(same, 0, 40);
	/* And after so long. */
	advance_ms(4000);
	for (int i = 0; i < 3; i++) {
		struct name_server_question q;

		advance_ms(4000);
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		ports += q.port != before;
		before = q.port;
		name_server_answer(&q);
		turn();
	}
	assert_uint_in_range(ports, 5, 6);
}

static void test_exchange_window_is_full_then_has_room_by_answers_or_by_patience(void **state)
{
	enum { MANY = RCM_DNS_WINDOW };
	static struct asked many[MANY], more[2], last;
	struct name_server_question q, other;

	(void)state;
	for (int i = 0; i < MANY; i++)
		ask(&many[i], "a.test", AF_UNSPEC);
	assert_int_equal(ask_to(&last, "b.test", AF_UNSPEC), -EAGAIN);
	rooms = 0;
	take(0, &q);
	take(0, &other);
	name_server_answer(&q);
	name_server_answer(&other);
	turn();
	assert_true(rooms > 0);
	/* For one, and for another as the window has grown. */
	assert_int_equal(ask_to(&more[0], "b.test", AF_UNSPEC), 0);
	assert_int_equal(ask_to(&more[1], "b.test", AF_UNSPEC), 0);
	assert_int_equal(ask_to(&last, "b.test", AF_UNSPEC), -EAGAIN);
	rooms = 0;
	advance_ms(50);
	assert_true(rooms > 0);
	assert_int_equal(ask_to(&last, "b.test", AF_UNSPEC), 0);
	while (name_server_take(0, false, &q))
		;
}

static unsigned take_all(void)
{
	struct name_server_question q;
	unsigned count = 0;

	while (name_server_take(0, false, &q))
		count++;
	return count;
}

/* They may have been lost together in the server's buffer, which the same number at once fills again. */
static void test_exchange_lost_together_are_asked_again_as_there_are_places(void **state)
{
	enum { MANY = RCM_DNS_WINDOW };
	static struct asked many[MANY], other;
	unsigned count;

	(void)state;
	configure(1, "options timeout:2 attempts:2\n");
	for (int i = 0; i < MANY; i++)
		ask(&many[i], "a.test", AF_UNSPEC);
	assert_int_equal(take_all(), 2 * MANY);
	advance_ms(1999);
	assert_int_equal(take_all(), 0);
	advance_ms(1);
	count = take_all();
	assert_int_equal(count, 2 * RCM_DNS_WINDOW_MIN);
	/* Who comes now is behind them, and who isn't interested any more holds nobody up. */
	assert_int_equal(ask_to(&other, "b.test", AF_UNSPEC), -EAGAIN);
	drop(&many[MANY - 1]);
	advance_ms(50);
	count += take_all();
	assert_int_equal(count, 2 * MANY - 2);
	assert_int_equal(ask_to(&other, "b.test", AF_UNSPEC), 0);
	assert_int_equal(take_all(), 2);
	drop(&other);
	advance_ms(1949);
	assert_false(many[0].done);
	advance_ms(1);
	check(&many[0], RCM_DNS_TIMEOUT, 0);
	assert_false(many[MANY - 2].done);
	advance_ms(50);
	check(&many[MANY - 2], RCM_DNS_TIMEOUT, 0);
}

static void test_exchange_without_descriptors_is_told_as_such_and_asks_when_there_are_some(void **state)
{
	struct name_server_question q;
	struct rlimit before, none;
	struct asked asked;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	ask(&asked, "a.test", AF_UNSPEC);
	assert_false(asked.done);
	turn();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	check(&asked, RCM_DNS_NOFILE, 0);
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

/* Early in a boot, as names are needed then, too. */
static void test_exchange_while_the_kernel_has_no_random_numbers_asks_all_the_same(void **state)
{
	static struct asked asked;
	struct name_server_question q;

	(void)state;
	no_random = true;
	ask(&asked, "first.test", AF_INET);
	take(0, &q);
	no_random = false;
	name_server_answer(&q);
	turn();
	check(&asked, RCM_DNS_FOUND, 1);
}

static void test_exchange_without_attempts_nobody_is_asked(void **state)
{
	struct asked asked;

	(void)state;
	configure(1, "options attempts:0\n");
	ask(&asked, "a.test", AF_UNSPEC);
	assert_false(asked.done);
	turn();
	check(&asked, RCM_DNS_UNREACHABLE, 0);
	name_server_assert_quiet();
}

static void test_exchange_idle_keeps_no_sockets(void **state)
{
	struct name_server_question q;
	struct asked asked;
	struct rcm_contact *contact;

	(void)state;
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	contact = rcm_servers_get(&servers, &resolv->servers[0]);
	assert_int_equal(contact->udp.sockets_count, 1);
	advance_ms(RCM_DNS_IDLE_MS);
	assert_int_equal(contact->udp.sockets_count, 0);
}

static void test_exchange_dropped_is_not_told_and_its_answer_is_for_nobody(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	ask(&asked, "a.test", AF_UNSPEC);
	take(0, &q);
	drop(&asked);
	name_server_answer(&q);
	turn();
	assert_false(asked.done);
	assert_int_equal(servers.carry.dropped, 1);
	take(0, &q);
}

static void test_exchange_sockets_are_bounded_however_many_names_stay_silent(void **state)
{
	enum { MANY = 4000 };
	static struct asked many[MANY];
	struct name_server_question q;
	struct rcm_contact *contact = rcm_servers_get(&servers, &resolv->servers[0]);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		while (ask_to(&many[i], "a.test", AF_UNSPEC))
			advance_ms(10);
		while (name_server_take(0, false, &q))
			;
	}
	assert_int_equal(contact->udp.sockets_count, RCM_DNS_SOCKETS);
	assert_int_equal(contact->known.out, 2 * MANY);
}

/* There is no other to be asked instead. */
static void test_exchange_only_server_is_given_all_of_its_time_however_silent(void **state)
{
	struct name_server_question q;
	struct asked asked;

	(void)state;
	configure(1, "options timeout:3 attempts:1\n");
	for (unsigned i = 0; i < 5; i++) {
		ask(&asked, "a.test", AF_INET);
		take(0, &q);
		advance_ms(2999);
		assert_false(asked.done);
		advance_ms(1);
		check(&asked, RCM_DNS_TIMEOUT, 0);
	}
}

static void take_facts(const void *watcher, const struct rcm_tell_step *step)
{
	if (step->kind == RCM_TELL_ANSWER)
		*(struct rcm_tell_facts *)(uintptr_t)watcher = step->facts;
}

static void test_exchange_answer_is_told_with_how_long_it_may_live_and_a_no_without(void **state)
{
	struct rcm_tell_facts facts = { .status = 1 };
	struct name_server_question q;
	struct asked asked;

	(void)state;
	assert_int_equal(rcm_tell_watch(take_facts, &facts), 0);
	ask(&asked, "a.test", AF_INET);
	take(0, &q);
	name_server_answer(&q);
	turn();
	assert_int_equal(facts.status, 0);
	assert_int_equal(facts.ttl_s, 60);
	ask(&asked, "b.test", AF_INET);
	take(0, &q);
	name_server_fail(&q, ns_r_nxdomain);
	turn();
	rcm_tell_watch(take_facts, NULL);
	assert_int_equal(facts.status, -ENOENT);
	assert_int_equal(facts.ttl_s, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVERS_TEST(test_exchange_both_families_are_asked_together_from_one_port),
		SERVERS_TEST(test_exchange_only_server_is_given_all_of_its_time_however_silent),
		SERVERS_TEST(test_exchange_silent_server_s_time_over_the_next_is_asked_round_by_round),
		SERVERS_TEST(test_exchange_server_that_can_not_or_will_not_sends_on_to_the_next),
		SERVERS_TEST(test_exchange_answer_about_the_name_ends_it),
		SERVERS_TEST(test_exchange_lame_server_sends_on_to_the_next),
		SERVERS_TEST(test_exchange_malformed_answer_sends_on_to_the_next),
		SERVERS_TEST(test_exchange_server_that_is_not_there_sends_on_at_once),
		SERVERS_TEST(test_exchange_only_the_answer_to_the_question_counts),
		SERVERS_TEST(test_exchange_flood_leaves_the_loop_time_for_others),
		SERVERS_TEST(test_exchange_answer_of_any_size_is_taken),
		SERVERS_TEST(test_exchange_edns_refused_is_asked_without_and_remembered),
		SERVERS_TEST(test_exchange_with_rotate_the_next_name_begins_at_the_next_server),
		SERVERS_TEST(test_exchange_server_silent_in_a_row_is_asked_last),
		SERVERS_TEST(test_exchange_ports_change_after_so_many_questions_and_ids_are_never_twice),
		SERVERS_TEST(test_exchange_window_is_full_then_has_room_by_answers_or_by_patience),
		SERVERS_TEST(test_exchange_lost_together_are_asked_again_as_there_are_places),
		SERVERS_TEST(test_exchange_without_descriptors_is_told_as_such_and_asks_when_there_are_some),
		SERVERS_TEST(test_exchange_while_the_kernel_has_no_random_numbers_asks_all_the_same),
		SERVERS_TEST(test_exchange_without_attempts_nobody_is_asked),
		SERVERS_TEST(test_exchange_idle_keeps_no_sockets),
		SERVERS_TEST(test_exchange_dropped_is_not_told_and_its_answer_is_for_nobody),
		SERVERS_TEST(test_exchange_answer_is_told_with_how_long_it_may_live_and_a_no_without),
		SERVERS_TEST(test_exchange_sockets_are_bounded_however_many_names_stay_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
