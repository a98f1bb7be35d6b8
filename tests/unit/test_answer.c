/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers: shared by reference, never missing. */
#include <errno.h>
#include <netdb.h>

#include "dns/eai.h"
#include "resolve/answer.h"
#include "resolve/resolve.h"
#include "test.h"

static void test_answer_new_is_empty_and_owns_its_text(void **state)
{
	char text[] = "canon.example";
	struct rcm_answer *answer;

	(void)state;
	assert_int_equal(rcm_answer_new_services(2, 4, text, &answer), 0);
	text[0] = 'X';
	assert_string_equal(answer->text, "canon.example");
	assert_int_equal(answer->count, 2);
	assert_int_equal(answer->results[1].dst.sa.sa_family, 0);
	assert_int_equal(answer->routes[3].flags, 0);
	assert_int_equal(answer->services[1].lease, 0);
	assert_false(rcm_answer_is_fixed(answer));
	rcm_answer_put(answer);
	rcm_answer_put(NULL);
}

static void test_answer_lives_until_its_last_reference_goes(void **state)
{
	struct rcm_answer *answer = rcm_answer_failed(-EIO, EAI_FAIL, "odd");

	(void)state;
	assert_ptr_equal(rcm_answer_get(answer), answer);
	rcm_answer_put(answer);
	assert_int_equal(answer->status, -EIO);
	assert_string_equal(answer->text, "odd");
	rcm_answer_put(answer);
}

static void test_answer_failed_without_text_says_what_the_status_means(void **state)
{
	struct rcm_answer *answer = rcm_answer_failed(-EACCES, 0, NULL);

	(void)state;
	assert_string_equal(answer->text, "Permission denied");
	rcm_answer_put(answer);
}

static void test_answer_fixed_is_never_freed(void **state)
{
	struct rcm_answer *answer = rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);

	(void)state;
	for (int i = 0; i < 3; i++)
		rcm_answer_put(rcm_answer_fixed(RCM_ANSWER_NO_MEMORY));
	assert_true(rcm_answer_is_fixed(answer) && rcm_answer_is(answer, RCM_ANSWER_NO_MEMORY));
	assert_false(rcm_answer_is(answer, RCM_ANSWER_CANCELLED));
	rcm_answer_put(answer);
	assert_int_equal(answer->status, -ENOMEM);
}

/* F20: each status has an EAI code, none is 0 but success. */
static void test_answer_eai_of_a_failure_is_never_success(void **state)
{
	(void)state;
	assert_int_equal(rcm_status_eai(0), 0);
	assert_int_equal(rcm_status_eai(-ENOENT), EAI_NONAME);
	assert_int_equal(rcm_status_eai(-ENODATA), EAI_NODATA);
	assert_int_equal(rcm_status_eai(-ETIMEDOUT), EAI_AGAIN);
	assert_int_equal(rcm_status_eai(-ENOMEM), EAI_MEMORY);
	for (int e = 1; e < 133; e++)
		assert_int_not_equal(rcm_status_eai(-e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_new_is_empty_and_owns_its_text),
		cmocka_unit_test(test_answer_lives_until_its_last_reference_goes),
		cmocka_unit_test(test_answer_failed_without_text_says_what_the_status_means),
		cmocka_unit_test(test_answer_fixed_is_never_freed),
		cmocka_unit_test(test_answer_eai_of_a_failure_is_never_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
