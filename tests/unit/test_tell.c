/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, as the watcher and the log are told them. */
#include "base/tell.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "logged.h"
#include "test.h"

enum { TOLD_MAX = 8, TEXT_MAX = 1400 };

static struct {
	struct rcm_tell_step step;
	char text[TEXT_MAX], server[64];
} told[TOLD_MAX];
static unsigned told_count;
static const int watcher, other;

static void take(const void *whose, const struct rcm_tell_step *step)
{
	assert_ptr_equal(whose, &watcher);
	assert_true(told_count < TOLD_MAX);
	told[told_count].step = *step;
	strcpy(told[told_count].text, step->text);
	strcpy(told[told_count].server, step->facts.server ? step->facts.server : "");
	told_count++;
	errno = EIO;
}

static int set_up(void **state)
{
	(void)state;
	told_count = 0;
	rcm_fake_clock_use(5000);
	return rcm_tell_watch(take, &watcher);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_clock_replace(NULL);
	return rcm_tell_watch(NULL, NULL);
}

static void test_tell_has_one_watcher_at_a_time(void **state)
{
	(void)state;
	assert_true(rcm_tell_wants());
	assert_int_equal(rcm_tell_watch(take, &other), -EBUSY);
	assert_int_equal(rcm_tell_watch(take, &watcher), -EBUSY);
	rcm_tell(RCM_TELL_COURSE, "one");
	assert_int_equal(told_count, 1);
	assert_int_equal(rcm_tell_watch(NULL, NULL), 0);
	assert_false(rcm_tell_wants());
	rcm_tell_write(RCM_TELL_COURSE, 0, NULL, "two");
	assert_int_equal(told_count, 1);
	assert_int_equal(rcm_tell_watch(take, &watcher), 0);
	assert_true(rcm_tell_wants());
}

static void test_tell_step_comes_with_all_that_is_known_of_it(void **state)
{
	static const struct rcm_tell_facts facts = { .server = "192.0.2.1", .status = -ENOENT, .ttl_s = 60, .kept_s = 1 };

	(void)state;
	errno = 77;
	rcm_tell_write(RCM_TELL_ANSWER, 9, &facts, "%s %d", "text", 3);
	assert_int_equal(errno, 77);
	assert_int_equal(told[0].step.at, 5000);
	assert_int_equal(told[0].step.kind, RCM_TELL_ANSWER);
	assert_int_equal(told[0].step.request, 9);
	assert_string_equal(told[0].text, "text 3");
	assert_string_equal(told[0].server, "192.0.2.1");
	assert_int_equal(told[0].step.facts.status, -ENOENT);
	assert_int_equal(told[0].step.facts.ttl_s, 60);
	assert_int_equal(told[0].step.facts.kept_s, 1);
	rcm_tell(RCM_TELL_KEPT, "bare");
	assert_int_equal(told[1].step.request, 0);
	assert_null(told[1].step.facts.server);
	assert_int_equal(told[1].step.facts.status, 0);
	assert_true(told[1].step.facts.ttl_s < 0 && told[1].step.facts.kept_s < 0);
}

static void test_tell_text_is_one_line_and_cut(void **state)
{
	char text[2 * TEXT_MAX];

	(void)state;
	rcm_tell(RCM_TELL_COURSE, "a\nb\x01\x1f\x7f \t~\x80\xff");
	assert_string_equal(told[0].text, "a?b??? ?~\x80\xff");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	rcm_tell(RCM_TELL_COURSE, "%s", text);
	assert_int_equal(strlen(told[1].text), TEXT_MAX - 1);
}

static void test_tell_that_is_held_is_told_at_the_outermost_end(void **state)
{
	struct rcm_tell_list outer = STAILQ_HEAD_INITIALIZER(outer), inner = STAILQ_HEAD_INITIALIZER(inner);
	char server[] = "192.0.2.1";
	const struct rcm_tell_facts facts = { .server = server };
	struct rcm_tell_list *before, *between;

	(void)state;
	before = rcm_tell_hold(&outer);
	assert_null(before);
	rcm_tell_facts(RCM_TELL_ANSWER, &facts, "one");
	/* Its own memory by then. */
	memset(server, 'x', sizeof(server) - 1);
	between = rcm_tell_hold(&inner);
	assert_ptr_equal(between, &outer);
	rcm_fake_clock_advance(1);
	rcm_tell(RCM_TELL_FILES, "two");
	rcm_tell_release(&inner, between);
	assert_true(STAILQ_EMPTY(&inner));
	rcm_tell(RCM_TELL_FILES, "three");
	assert_int_equal(told_count, 0);
	rcm_tell_release(&outer, before);
	assert_true(STAILQ_EMPTY(&outer));
	assert_int_equal(told_count, 3);
	assert_string_equal(told[0].text, "one");
	assert_string_equal(told[0].server, "192.0.2.1");
	assert_int_equal(told[0].step.at, 5000);
	assert_string_equal(told[1].text, "two");
	assert_string_equal(told[1].server, "");
	assert_int_equal(told[1].step.at, 5001);
	assert_string_equal(told[2].text, "three");
	rcm_tell(RCM_TELL_FILES, "four");
	assert_int_equal(told_count, 4);
}

static void test_tell_list_is_told_as_often_as_wanted_until_it_is_forgotten(void **state)
{
	struct rcm_tell_list list = STAILQ_HEAD_INITIALIZER(list);

	(void)state;
	assert_null(rcm_tell_hold(&list));
	rcm_tell(RCM_TELL_FILES, "one");
	rcm_tell(RCM_TELL_FILES, "two");
	assert_ptr_equal(rcm_tell_hold(NULL), &list);
	rcm_tell_list(&list);
	rcm_tell_list(&list);
	assert_int_equal(told_count, 4);
	assert_string_equal(told[3].text, "two");
	rcm_tell_forget(&list);
	assert_true(STAILQ_EMPTY(&list));
}

static void test_tell_is_held_for_a_watcher_alone(void **state)
{
	struct rcm_tell_list list = STAILQ_HEAD_INITIALIZER(list);

	(void)state;
	assert_int_equal(rcm_tell_watch(NULL, NULL), 0);
	assert_null(rcm_tell_hold(&list));
	rcm_tell_write(RCM_TELL_FILES, 0, NULL, "one");
	assert_true(STAILQ_EMPTY(&list));
	assert_ptr_equal(rcm_tell_hold(NULL), &list);
	assert_int_equal(rcm_tell_watch(take, &watcher), 0);
}

static void tell_each_kind(void)
{
	for (int kind = RCM_TELL_COURSE; kind <= RCM_TELL_KEPT; kind++)
		rcm_tell_write(kind, 0, NULL, "text");
	rcm_tell_write(RCM_TELL_FILES, 7, NULL, "text");
}

static void test_tell_is_logged_with_its_kind_and_request(void **state)
{
	(void)state;
	assert_string_equal(logged_by(tell_each_kind, "trace", NULL),
			    "rai: trace: text\nrai: trace: files: text\nrai: trace: hosts file: text\n"
			    "rai: trace: question: text\nrai: trace: answer: text\nrai: trace: order: text\n"
			    "rai: trace: kept: text\nrai: trace: request 7: files: text\n");
	assert_string_equal(logged_by(tell_each_kind, "info", NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		/* The first: who asks whether there is a log has it read once and for all. */
		T(test_tell_is_logged_with_its_kind_and_request),
		T(test_tell_has_one_watcher_at_a_time),
		T(test_tell_step_comes_with_all_that_is_known_of_it),
		T(test_tell_text_is_one_line_and_cut),
		T(test_tell_that_is_held_is_told_at_the_outermost_end),
		T(test_tell_list_is_told_as_often_as_wanted_until_it_is_forgotten),
		T(test_tell_is_held_for_a_watcher_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
