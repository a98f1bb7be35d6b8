/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of resolutions, as a program is told of them. */
#include "api.h"

#include <errno.h>
#include <pthread.h>
#include <rdma/rai.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 256 };

static struct {
	pthread_mutex_t lock;
	unsigned count;
	struct rai_step steps[STEPS_MAX];
	char texts[STEPS_MAX][200];
} told = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void take(void *arg, const struct rai_step *step)
{
	assert_ptr_equal(arg, &told);
	pthread_mutex_lock(&told.lock);
	if (told.count < STEPS_MAX) {
		told.steps[told.count] = *step;
		strncpy(told.texts[told.count], step->text, sizeof(told.texts[0]) - 1);
		told.count++;
	}
	pthread_mutex_unlock(&told.lock);
}

static const struct rai_watcher watcher = { .step = take, .arg = &told };

static const struct rai_step *find(enum rai_step_kind kind, const char *words)
{
	for (unsigned i = 0; i < told.count; i++)
		if (told.steps[i].kind == kind && strstr(told.texts[i], words))
			return &told.steps[i];
	return NULL;
}

static void resolve(const char *node)
{
	struct rdma_addrinfo *list = NULL, hints = { .ai_family = AF_INET };

	assert_int_equal(rdma_getaddrinfo(node, "7471", &hints, &list), 0);
	rdma_freeaddrinfo(list);
}

static int forget(void **state)
{
	(void)state;
	rai_watch_steps(NULL);
	told.count = 0;
	return 0;
}

static void test_watcher_without_a_function_is_refused_and_a_second_one_is_busy(void **state)
{
	const struct rai_watcher none = { .arg = &told }, later = { .step = take, .reserved = { [1] = 1 } };
	static struct rai_watcher other = { .step = take };

	(void)state;
	errno = 0;
	assert_int_equal(rai_watch_steps(&none), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(rai_watch_steps(&later), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rai_watch_steps(&watcher), 0);
	errno = 0;
	assert_int_equal(rai_watch_steps(&other), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(rai_watch_steps(NULL), 0);
	assert_int_equal(rai_watch_steps(NULL), 0);
}

static void test_watcher_is_told_the_course_of_a_number_and_of_a_name(void **state)
{
	const struct rai_step *here, *end;

	(void)state;
	assert_int_equal(rai_watch_steps(&watcher), 0);
	resolve("192.0.2.1");
	here = find(RAI_STEP_COURSE, "here");
	end = find(RAI_STEP_COURSE, "told (status 0");
	assert_true(here && end && here < end);
	assert_true(!here->server && here->status == 0 && here->ttl_s == -1 && here->kept_s == -1);
	assert_true(here->request > 0 && here->request == end->request);
	assert_true(here->time_ns > 0 && here->time_ns <= end->time_ns);
	/* Any host has it, in its hosts file or in a module of its. */
	resolve("localhost");
	assert_non_null(find(RAI_STEP_FILES, "the host's configuration was read"));
}

static void test_watcher_that_was_taken_back_is_told_nothing(void **state)
{
	(void)state;
	assert_int_equal(rai_watch_steps(&watcher), 0);
	assert_int_equal(rai_watch_steps(NULL), 0);
	resolve("192.0.2.1");
	assert_int_equal(told.count, 0);
}

static void test_step_of_a_name_with_control_characters_is_one_line(void **state)
{
	struct rdma_addrinfo *list = NULL, hints = { .ai_family = AF_INET };

	(void)state;
	assert_int_equal(rai_watch_steps(&watcher), 0);
	rdma_getaddrinfo("a\nb\033[2J.invalid", NULL, &hints, &list);
	for (unsigned i = 0; i < told.count; i++)
		assert_null(strpbrk(told.texts[i], "\n\033"));
	assert_true(told.count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_watcher_without_a_function_is_refused_and_a_second_one_is_busy, forget),
		cmocka_unit_test_teardown(test_watcher_is_told_the_course_of_a_number_and_of_a_name, forget),
		cmocka_unit_test_teardown(test_watcher_that_was_taken_back_is_told_nothing, forget),
		cmocka_unit_test_teardown(test_step_of_a_name_with_control_characters_is_one_line, forget),
	};

	setenv("RAI_DEVICELESS", "1", 1);
	setenv("RAI_DEADLINE_MS", "2000", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
