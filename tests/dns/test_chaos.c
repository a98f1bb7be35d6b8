/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names at a server that answers wrongly in every way, many at once: each ends once, none is lost, and a live one in
 * between is found. usage: test_chaos [NAMES]: 2,000 of them, or as many as are wanted.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "../unit/test.h"
#include "asker.h"

enum { WINDOW = 200 };

static unsigned names = 2000;

static void check_end(const struct outcome *outcome)
{
	static const int known[] = { 0, -ENOENT, -ENODATA, -ETIMEDOUT, -EAGAIN, -EIO };
	bool found = false;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		found |= outcome->status == known[i];
	if (!found)
		fail_msg("status %d: %s", outcome->status, outcome->why);
	assert_true(outcome->status || outcome->count);
	assert_true(!outcome->status || outcome->why[0]);
}

static void start_one(struct outcome *outcome, unsigned i)
{
	static const int families[] = { AF_UNSPEC, AF_UNSPEC, AF_INET, AF_INET6 };
	char name[64];

	snprintf(name, sizeof(name), "chaos-%u.liar.test", i);
	asker_start(outcome, name, families[i % 4]);
}

/*
 * Nothing here depends on how fast the machine is. On one that gives the server no processor for as long as the
 * configuration has names wait, a name ends in time all the same, and says so: a live one is then asked again.
 */
static void ask_live(struct outcome *live)
{
	do
		asker_ask(live, "live-chaos.liar.test", AF_UNSPEC);
	while (live->status == -ETIMEDOUT || live->missing);
	if (live->status)
		fail_msg("the live name: status %d: %s", live->status, live->why);
	assert_string_equal(live->text, "live-chaos.liar.test 2001:db8::5 192.0.2.5");
}

/* Returns whether it ended as a share of all names does: found, or nobody knows as the server had no time. */
static bool end_one(struct outcome *outcome, bool lose_patience)
{
	if (lose_patience && !outcome->done) {
		asker_cancel(outcome);
		return true;
	}
	while (!outcome->done)
		asker_turn(1000);
	check_end(outcome);
	return !outcome->status || outcome->status == -ETIMEDOUT;
}

static void run_chaos(unsigned count, unsigned least)
{
	struct outcome *o = calloc(WINDOW, sizeof(*o)), *live = calloc(1, sizeof(*live));
	unsigned started = 0, ended = 0, good = 0;

	assert_non_null(o);
	assert_non_null(live);
	for (; started < WINDOW; started++)
		start_one(&o[started], started);
	for (unsigned at = 0; ended < count; at = (at + 1) % WINDOW) {
		if (!o[at].started)
			continue;
		good += end_one(&o[at], ended % 50 == 49);
		ended++;
		o[at].started = 0;
		if (started < count)
			start_one(&o[at], started++);
		if (ended % 50 == 0)
			ask_live(live);
	}
	print_message("%u names, %u found or without an answer in time\n", ended, good);
	assert_uint_in_range(good, least, count);
	free(o);
	free(live);
}

static void test_chaos_every_name_ends_once_and_live_ones_are_found(void **state)
{
	(void)state;
	asker_write("/etc/resolv.conf", "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n");
	/* About half are answered well. */
	run_chaos(names, names / 4);
}

static void test_chaos_with_edns_and_two_attempts(void **state)
{
	(void)state;
	asker_write("/etc/resolv.conf", "nameserver 127.0.0.5\nnameserver 127.0.0.5\noptions timeout:1 attempts:1 edns0\n");
	run_chaos(names, names / 4);
}

static void test_chaos_by_tcp(void **state)
{
	unsigned count;

	(void)state;
	asker_write("/etc/resolv.conf", "nameserver 127.0.0.5\noptions timeout:3 attempts:1 use-vc\n");
	/* Each that the server hangs up on has it fork again. */
	count = names / 10 < WINDOW ? WINDOW : names / 10;
	run_chaos(count, count / 8);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chaos_every_name_ends_once_and_live_ones_are_found),
		cmocka_unit_test(test_chaos_with_edns_and_two_attempts),
		cmocka_unit_test(test_chaos_by_tcp),
	};
	int rc;

	asker_main(argc, argv);
	if (argc == 2)
		names = (unsigned)strtoul(argv[1], NULL, 10);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
