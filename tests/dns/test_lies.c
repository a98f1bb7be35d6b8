/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of names against a name server that misbehaves as the name asked says; timeout:1 attempts:1. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "../unit/test.h"
#include "../unit/least.h"
#include "asker.h"

#define BY_TCP "nameserver 127.0.0.5\noptions timeout:10 attempts:1 use-vc\n"
#define PATIENT "nameserver 127.0.0.5\noptions timeout:20 attempts:1\n"
#define AS_BEFORE "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n"

/* A place on the heap: an outcome is large. */
static struct outcome *outcomes(unsigned count)
{
	struct outcome *o = calloc(count, sizeof(*o));

	assert_non_null(o);
	return o;
}

struct row {
	const char *name;
	int status;
	int code;
	const char *why;
};

static void ask_rows(const struct row *rows, unsigned count)
{
	struct outcome *o = outcomes(count);
	char name[64];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s.liar.test", rows[i].name);
		asker_start(&o[i], name, AF_UNSPEC);
	}
	for (unsigned i = 0; i < count; i++) {
		asker_wait(&o[i], 60000);
		if (o[i].status != rows[i].status || o[i].code != rows[i].code || !strstr(o[i].why, rows[i].why))
			print_error("%s: %d, %d, \"%s\"\n", rows[i].name, o[i].status, o[i].code, o[i].why);
		assert_true(o[i].done);
		assert_int_equal(o[i].status, rows[i].status);
		assert_int_equal(o[i].code, rows[i].code);
		assert_non_null(strstr(o[i].why, rows[i].why));
	}
	free(o);
}

/* F4, F20: each way to fail has one status, a negative errno, and a text that names the server. */
static void test_f4_source_each_failure_has_its_own_status(void **state)
{
	static const struct row answered[] = {
		{ "nxdomain", -ENOENT, EAI_NONAME, "name server 127.0.0.5 says that there is no such name" },
		{ "nodata", -ENODATA, EAI_NODATA, "name server 127.0.0.5 has no address" },
		{ "servfail", -EAGAIN, EAI_AGAIN, "name server 127.0.0.5 failed for now (SERVFAIL)" },
		{ "refused", -EIO, EAI_AGAIN, "name server 127.0.0.5 refused to answer (REFUSED)" },
		{ "formerr", -EIO, EAI_FAIL, "name server 127.0.0.5 did not understand" },
		{ "notimp", -EIO, EAI_FAIL, "name server 127.0.0.5 does not do such questions" },
		{ "trunc", -EAGAIN, EAI_AGAIN,
		  "name server 127.0.0.5 sent a truncated answer, and can't be reached by TCP" },
		{ "four-nxdomain", 0, 0, "" },
		{ "aonly", 0, 0, "" },
		{ "six-servfail", 0, 0, "" },
		{ "delay-300", 0, 0, "" },
		{ "tcp", 0, 0, "" },
		{ "many-40", 0, 0, "" },
		{ "many-2000", 0, 0, "" },
		{ "padded", 0, 0, "" },
		{ "behind", 0, 0, "" },
		{ "once", 0, 0, "" },
		{ "twice", 0, 0, "" },
		{ "pieces", 0, 0, "" },
		{ "hangup", 0, 0, "" },
		{ "half", -EAGAIN, EAI_AGAIN,
		  "name server 127.0.0.5 sent a truncated answer, and can't be reached by TCP" },
		{ "lame", -EIO, EAI_AGAIN, "name server 127.0.0.5 knows nothing of that name, and asks nobody" },
		{ "soa-60", -ENOENT, EAI_NONAME, "name server 127.0.0.5 says that there is no such name" },
		{ "chain-9", 0, 0, "" },
		{ "chain-25", 0, 0, "" },
		{ "loop", -ENODATA, EAI_NODATA, "name server 127.0.0.5 has no address" },
		{ "badvers", 0, 0, "" },
		{ "othertype", -ENODATA, EAI_NODATA, "name server 127.0.0.5 has no address" },
		{ "badlength", -EIO, EAI_FAIL, "name server 127.0.0.5 sent a malformed answer" },
		{ "junk", 0, 0, "" },
	}, silent[] = {
		{ "silent", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "wrongid", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "wrongname", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "garbage", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "short", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "echo", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "elsewhere", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
		{ "noquestion", -ETIMEDOUT, EAI_AGAIN, "name server 127.0.0.5 did not answer in time" },
	};

	(void)state;
	asker_write("/etc/resolv.conf", PATIENT);
	ask_rows(answered, sizeof(answered) / sizeof(*answered));
	asker_write("/etc/resolv.conf", AS_BEFORE);
	ask_rows(silent, sizeof(silent) / sizeof(*silent));
}

static void test_source_one_family_silent_gives_the_other_a_second_later(void **state)
{
	struct outcome *o = outcomes(4);

	(void)state;
	asker_start(&o[0], "four-silent.liar.test", AF_UNSPEC);
	asker_start(&o[1], "six-silent.liar.test", AF_UNSPEC);
	asker_start(&o[3], "silent-both.liar.test", AF_UNSPEC);
	while (!asker_partial(&o[1], &o[2]) && !o[1].done)
		asker_turn(10);
	assert_string_equal(o[2].text, "six-silent.liar.test 2001:db8::5");
	assert_int_equal(o[2].missing, AF_INET);
	assert_false(o[1].done);
	/* As long as a server that says nothing at all is waited for. */
	asker_wait(&o[3], 5000);
	assert_int_equal(o[3].status, -ETIMEDOUT);
	assert_true(o[0].done && o[1].done);
	assert_string_equal(o[0].text, "four-silent.liar.test 192.0.2.5");
	assert_string_equal(o[1].text, "six-silent.liar.test 2001:db8::5");
	assert_true(o[0].took_ms >= 900 && o[1].took_ms >= 900);
	assert_int_equal(o[0].ttl, 0);
	assert_int_equal(o[0].missing, AF_INET6);
	free(o);
}

static void start_many(struct outcome *o, unsigned count, const char *format)
{
	char name[64];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), format, i);
		asker_start(&o[i], name, AF_UNSPEC);
	}
}

static void cancel_many(struct outcome *o, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!o[i].done)
			asker_cancel(&o[i]);
}

static double fast_name_ms(void *arg)
{
	struct outcome *fast = arg;

	asker_ask(fast, "live-f34.liar.test", AF_UNSPEC);
	assert_int_equal(fast->status, 0);
	return (double)fast->took_ms;
}

/* F34: 100 silent names and a fast one: it takes under 10 ms. */
static void test_f34_source_hundred_silent_names_do_not_hold_up_a_fast_one(void **state)
{
	struct outcome *o = outcomes(101);

	(void)state;
	start_many(o, 100, "silent-%u.liar.test");
	assert_true(least(fast_name_ms, &o[100], 10 * SLOW) <= 10 * SLOW);
	cancel_many(o, 100);
	free(o);
}

/* F7: 1000 silent names and a live one, asked last: it waits for none of them. */
static void test_f7_source_thousand_silent_names_do_not_hold_up_a_live_one(void **state)
{
	struct outcome *o = outcomes(1001);

	(void)state;
	start_many(o, 1000, "silent-%u.liar.test");
	asker_start(&o[1000], "live-f7.liar.test", AF_UNSPEC);
	asker_wait(&o[1000], 5000);
	print_message("live after %u ms\n", (unsigned)o[1000].took_ms);
	assert_int_equal(o[1000].status, 0);
	for (unsigned i = 0; i < 1000; i++)
		asker_wait(&o[i], 10000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(o[i].status, -ETIMEDOUT);
		assert_true(o[1000].took_ms < o[i].took_ms);
	}
	free(o);
}

static void test_source_more_silent_names_than_all_channels_hold_all_end(void **state)
{
	enum { MANY = 5000 };
	struct outcome *o = outcomes(MANY + 1);

	(void)state;
	start_many(o, MANY, "silent-%u.liar.test");
	asker_start(&o[MANY], "live-full.liar.test", AF_UNSPEC);
	for (unsigned i = 0; i < MANY; i++) {
		asker_wait(&o[i], 20000);
		assert_int_equal(o[i].status, -ETIMEDOUT);
	}
	asker_wait(&o[MANY], 20000);
	assert_int_equal(o[MANY].status, 0);
	free(o);
}

static double name_after_cancelled_ms(void *arg)
{
	enum { MANY = 3000 };
	struct outcome *o = outcomes(MANY + 1);
	double ms;

	(void)arg;
	start_many(o, MANY, "silent-%u.liar.test");
	for (int i = 0; i < 20; i++)
		asker_turn(10);
	cancel_many(o, MANY);
	asker_start(&o[MANY], "live-after.liar.test", AF_UNSPEC);
	asker_wait(&o[MANY], 5000);
	assert_int_equal(o[MANY].status, 0);
	ms = (double)o[MANY].took_ms;
	free(o);
	return ms;
}

static void test_source_cancelled_names_give_their_places_up(void **state)
{
	(void)state;
	assert_true(least(name_after_cancelled_ms, NULL, 50 * SLOW) <= 50 * SLOW);
}

/* Late answers, to questions whose lookups are gone, touch nothing. */
static void test_source_answers_after_cancel_are_dropped(void **state)
{
	struct outcome *o = outcomes(100);
	uint64_t end = asker_now_ms() + 150;

	(void)state;
	start_many(o, 100, "delay-50-%u.liar.test");
	asker_turn(5);
	asker_turn(5);
	cancel_many(o, 100);
	while (asker_now_ms() < end)
		asker_turn(10);
	for (int i = 0; i < 100; i++)
		assert_false(o[i].done);
	free(o);
}

static double close_ms(void *arg)
{
	struct outcome *o = outcomes(500);
	uint64_t before;

	(void)arg;
	start_many(o, 500, "silent-%u.liar.test");
	for (int i = 0; i < 5; i++)
		asker_turn(10);
	before = asker_now_ms();
	asker_close();
	before = asker_now_ms() - before;
	free(o);
	asker_open();
	return (double)before;
}

/* F35: closing with hundreds of names in flight, at once. */
static void test_f35_source_closed_in_mid_lookup_returns_at_once(void **state)
{
	(void)state;
	assert_true(least(close_ms, NULL, 50 * SLOW) <= 50 * SLOW);
}


/* What the server hangs up on isn't there any more when it does: whoever else is on that connection is asked again. */
static void test_source_connection_that_ends_for_a_cancelled_name_fails_no_other(void **state)
{
	struct outcome *o = outcomes(2);

	(void)state;
	asker_write("/etc/resolv.conf", BY_TCP);
	asker_start(&o[0], "sulk.liar.test", AF_INET);
	for (int i = 0; i < 20; i++)
		asker_turn(5);
	assert_false(o[0].done);
	asker_cancel(&o[0]);
	asker_ask(&o[1], "live-sulk.liar.test", AF_INET);
	assert_string_equal(o[1].text, "live-sulk.liar.test 192.0.2.5");
	asker_write("/etc/resolv.conf", AS_BEFORE);
	free(o);
}

/* More than there are connections, at a server that was seen to take one question at a time. */
static void test_source_names_answered_wrongly_by_tcp_take_no_connection_up(void **state)
{
	enum { WRONG = 20 };
	struct outcome *o = outcomes(WRONG + 1);
	char name[64];

	(void)state;
	asker_write("/etc/resolv.conf", BY_TCP);
	asker_ask(&o[0], "trunc.liar.test", AF_INET);
	assert_int_equal(o[0].status, -EAGAIN);
	for (int i = 0; i < WRONG; i++) {
		snprintf(name, sizeof(name), "%s-%d.liar.test", i % 2 ? "wrongid" : "wrongname", i);
		asker_start(&o[i], name, AF_INET);
	}
	asker_ask(&o[WRONG], "live-wrong.liar.test", AF_INET);
	assert_string_equal(o[WRONG].text, "live-wrong.liar.test 192.0.2.5");
	for (int i = 0; i < WRONG; i++)
		assert_false(o[i].done);
	cancel_many(o, WRONG);
	asker_write("/etc/resolv.conf", AS_BEFORE);
	free(o);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f4_source_each_failure_has_its_own_status),
		cmocka_unit_test(test_source_one_family_silent_gives_the_other_a_second_later),
		cmocka_unit_test(test_f34_source_hundred_silent_names_do_not_hold_up_a_fast_one),
		cmocka_unit_test(test_f7_source_thousand_silent_names_do_not_hold_up_a_live_one),
		cmocka_unit_test(test_source_more_silent_names_than_all_channels_hold_all_end),
		cmocka_unit_test(test_source_cancelled_names_give_their_places_up),
		cmocka_unit_test(test_source_answers_after_cancel_are_dropped),
		cmocka_unit_test(test_source_connection_that_ends_for_a_cancelled_name_fails_no_other),
		cmocka_unit_test(test_source_names_answered_wrongly_by_tcp_take_no_connection_up),
		cmocka_unit_test(test_f35_source_closed_in_mid_lookup_returns_at_once),
	};
	int rc;

	asker_main(argc, argv);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
