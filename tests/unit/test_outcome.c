/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a resolution: its numbers, its words, and how it is counted. */
#include "resolve/outcome.h"

#include <errno.h>
#include <netdb.h>

#include "dns/eai.h"
#include "test.h"

static struct rcm_engine engine;
static struct rcm_outcome told;
static unsigned times;

static void take(void *arg, struct rcm_outcome *outcome)
{
	assert_ptr_equal(arg, &told);
	told = *outcome;
	times++;
}

static int set_up(void **state)
{
	(void)state;
	memset(&engine.stats, 0, sizeof(engine.stats));
	memset(&told, 0, sizeof(told));
	times = 0;
	return 0;
}

static void tell(const struct rcm_about *about, struct rcm_answer *answer)
{
	unsigned before = times;

	rcm_outcome_tell(&engine, about, answer, take, &told);
	assert_int_equal(times, before + 1);
}

/* text NULL: there is nothing to say. */
static void check_words(const struct rcm_about *about, const struct rcm_answer *of, const char *text)
{
	struct rcm_answer *answer;

	assert_int_equal(rcm_answer_new(0, of->text, &answer), 0);
	answer->status = of->status;
	answer->count = of->count;
	answer->missing = of->missing;
	answer->targets = of->targets;
	answer->targets_lost = of->targets_lost;
	answer->pathless = of->pathless;
	tell(about, answer);
	if (text)
		assert_string_equal(told.text, text);
	else
		assert_null(told.text);
	free(told.text);
	rcm_answer_put(told.answer);
}

#define SIXTY "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff"

static void test_outcome_says_in_words_what_failed_or_is_missing(void **state)
{
	static const struct rcm_about name = { .node = "host.example", .service = "nfs" }, service = { .service = "nfs" };
	static const struct rcm_about of_sa = { .service = "storage", .sa = true }, all = { .sa = true }, nothing;
	static const struct rcm_about sixty = { .node = SIXTY }, more = { .node = SIXTY "f" };
	static const struct {
		const struct rcm_about *about;
		struct rcm_answer answer;
		const char *text;
	} rows[] = {
		{ &name, { .status = 0, .text = "canon.example" }, NULL },
		{ &name, { .status = -EIO, .text = "why" }, "name host.example: why" },
		{ &name, { .status = -EIO }, "name host.example: failed" },
		{ &service, { .status = -EIO, .text = "why" }, "service nfs: why" },
		{ &nothing, { .status = -EIO, .text = "why" }, "service -: why" },
		{ &of_sa, { .status = -EIO, .text = "why" }, "service storage at the SA: why" },
		{ &all, { .status = -EIO, .text = "why" }, "services at the SA: why" },
		{ &name, { .missing = AF_INET, .text = "canon" },
		  "name host.example: found without IPv4 addresses, which nobody told in time" },
		{ &name, { .missing = AF_INET6 },
		  "name host.example: found without IPv6 addresses, which nobody told in time" },
		{ &name, { .targets = 3, .targets_lost = 2 },
		  "name host.example: found, but no address of 2 of its 3 targets" },
		{ &name, { .targets = 3, .targets_lost = 1, .missing = AF_INET },
		  "name host.example: found, but no address of 1 of its 3 targets, and not both families of others" },
		{ &of_sa, { .count = 1, .pathless = 1 }, "service storage at the SA: 1 record, 1 without a path" },
		{ &of_sa, { .count = 2, .pathless = 1 }, "service storage at the SA: 2 records, 1 without a path" },
		{ &sixty, { .status = -EIO, .text = "why" }, "name " SIXTY ": why" },
		{ &more, { .status = -EIO, .text = "why" }, "name " SIXTY "...: why" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_words(rows[i].about, &rows[i].answer, rows[i].text);
	tell(&name, rcm_answer_fixed(RCM_ANSWER_NO_SERVICE));
	assert_string_equal(told.text, "service nfs: no such service");
	free(told.text);
}

/* Of what the engine itself ends there is no MAD status, and what has none has its EAI code from its status. */
static void test_outcome_has_the_number_that_goes_with_its_status(void **state)
{
	static const struct rcm_about name = { .node = "host.example", .port = 7, .more = true }, of_sa = { .sa = true };
	struct rcm_answer *answer;
	static const struct {
		const struct rcm_about *about;
		int status;
		uint64_t arg, told;
	} rows[] = {
		{ &name, 0, 9, 9 }, { &name, 0, 0, 0 }, { &name, -EIO, 5, 5 }, { &name, -ETIMEDOUT, 0, (uint64_t)EAI_AGAIN },
		{ &of_sa, -EIO, 0x300, 0x300 }, { &of_sa, -EIO, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(rcm_answer_new(0, NULL, &answer), 0);
		answer->status = rows[i].status;
		answer->arg = rows[i].arg;
		tell(rows[i].about, answer);
		assert_int_equal(told.status, rows[i].status);
		assert_true(told.arg == rows[i].told);
		assert_int_equal(told.port, rows[i].about->port);
		assert_int_equal(told.more, rows[i].about->more);
		assert_ptr_equal(told.answer, rows[i].status ? NULL : answer);
		rcm_answer_put(told.answer);
		free(told.text);
	}
	tell(&name, rcm_answer_fixed(RCM_ANSWER_CANCELLED));
	assert_true(told.arg == (uint64_t)EAI_CANCELED);
	free(told.text);
	tell(&of_sa, rcm_answer_fixed(RCM_ANSWER_CANCELLED));
	assert_true(told.arg == 0);
	free(told.text);
}

static void test_outcome_is_counted_once_by_how_it_ended(void **state)
{
	static const struct { int status; unsigned resolved, failed, cancelled, timeouts; } rows[] = {
		{ 0, 1, 0, 0, 0 }, { -ECANCELED, 0, 0, 1, 0 }, { -ETIMEDOUT, 0, 1, 0, 1 }, { -ENOENT, 0, 1, 0, 0 },
	};
	static const struct rcm_about name = { .node = "host.example" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_answer *answer;

		set_up(state);
		assert_int_equal(rcm_answer_new(0, NULL, &answer), 0);
		answer->status = rows[i].status;
		tell(&name, answer);
		assert_int_equal(engine.stats.counts[RCM_COUNT_RESOLVED], rows[i].resolved);
		assert_int_equal(engine.stats.counts[RCM_COUNT_FAILED], rows[i].failed);
		assert_int_equal(engine.stats.counts[RCM_COUNT_CANCELLED], rows[i].cancelled);
		assert_int_equal(engine.stats.counts[RCM_COUNT_TIMEOUTS], rows[i].timeouts);
		assert_int_equal(engine.stats.counts[RCM_COUNT_STARTED], 0);
		rcm_answer_put(told.answer);
		free(told.text);
	}
}

static unsigned batches;

static void batch_told(void)
{
	batches++;
}

static void test_outcomes_told_is_for_whoever_watches(void **state)
{
	(void)state;
	rcm_outcomes_told();
	rcm_outcomes_watch(batch_told);
	rcm_outcomes_told();
	rcm_outcomes_watch(NULL);
	rcm_outcomes_told();
	assert_int_equal(batches, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_outcome_says_in_words_what_failed_or_is_missing, set_up),
		cmocka_unit_test_setup(test_outcome_has_the_number_that_goes_with_its_status, set_up),
		cmocka_unit_test_setup(test_outcome_is_counted_once_by_how_it_ended, set_up),
		cmocka_unit_test_setup(test_outcomes_told_is_for_whoever_watches, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
