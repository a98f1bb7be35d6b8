/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers: shared by reference, never missing. */
#include <errno.h>
#include <netdb.h>

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
	assert_true(answer->arg == (uint64_t)EAI_FAIL);
	assert_string_equal(answer->text, "odd");
	rcm_answer_put(answer);
}

static void test_answer_failed_without_text_says_what_the_status_means(void **state)
{
	struct rcm_answer *answer = rcm_answer_failed(-EACCES, 0, NULL);

	(void)state;
	assert_string_equal(answer->text, "Permission denied");
	rcm_answer_put(answer);
	/* Of no memory there is one already. */
	answer = rcm_answer_failed(-ENOMEM, 0x300, "odd");
	assert_true(rcm_answer_is(answer, RCM_ANSWER_NO_MEMORY));
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

/* F20: a status is a negative errno. */
static void test_answer_fixed_ones_have_a_status_a_code_and_words(void **state)
{
	static const struct { int status, eai; const char *text; } rows[] = {
		[RCM_ANSWER_CANCELLED] = { -ECANCELED, EAI_CANCELED, "cancelled by the application" },
		[RCM_ANSWER_DEADLINE] = { -ETIMEDOUT, EAI_AGAIN, "no answer before the deadline" },
		[RCM_ANSWER_NO_MEMORY] = { -ENOMEM, EAI_MEMORY, "out of memory" },
		[RCM_ANSWER_NO_SERVICE] = { -ENOENT, EAI_SERVICE, "no such service" },
		[RCM_ANSWER_NO_SCOPE] = { -ENOENT, EAI_NONAME, "its scope is no interface, or it isn't link-local" },
		[RCM_ANSWER_OTHER_FAMILY] = { -ENODATA, EAI_ADDRFAMILY, "an address, but of another family" },
		[RCM_ANSWER_NO_GID] = { -ENODATA, EAI_ADDRFAMILY, "names have no AF_IB addresses" },
		[RCM_ANSWER_NO_PORT] = { -ENODEV, 0, "no active InfiniBand port" },
		[RCM_ANSWER_LOST] = { -EBADF, EAI_SYSTEM, "the program closed the library's descriptors" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_answer *answer = rcm_answer_fixed(i);

		assert_int_equal(answer->status, rows[i].status);
		assert_true(answer->arg == (uint64_t)rows[i].eai);
		assert_string_equal(answer->text, rows[i].text);
		assert_int_equal(answer->count, 0);
		/* The table's own is left. */
		assert_int_equal(answer->refs, 2);
		rcm_answer_put(answer);
	}
}

/* All is of one block of memory: each has a place of its own. */
static void test_answer_parts_stand_behind_each_other(void **state)
{
	struct rcm_answer *answer;

	(void)state;
	assert_int_equal(rcm_answer_new_services(2, 3, "t", &answer), 0);
	memset(answer->results, 1, 2 * sizeof(*answer->results));
	memset(answer->routes, 2, 3 * sizeof(*answer->routes));
	memset(answer->services, 3, 2 * sizeof(*answer->services));
	assert_int_equal(((uint8_t *)answer->routes)[-1], 1);
	assert_int_equal(((uint8_t *)answer->services)[-1], 2);
	assert_string_equal(answer->text, "t");
	assert_int_equal(answer->srvs_count, 0);
	assert_ptr_equal((uint8_t *)answer + answer->size, answer->text + 2);
	rcm_answer_put(answer);
	assert_int_equal(rcm_answer_new_srvs(2, 3, "t", &answer), 0);
	memset(answer->results, 1, 2 * sizeof(*answer->results));
	memset(answer->srvs, 2, 3 * sizeof(*answer->srvs));
	assert_int_equal(((uint8_t *)answer->srvs)[-1], 1);
	assert_string_equal(answer->text, "t");
	assert_int_equal(answer->srvs_count, 3);
	assert_ptr_equal((uint8_t *)answer + answer->size, answer->text + 2);
	rcm_answer_put(answer);
	assert_int_equal(rcm_answer_new(1, NULL, &answer), 0);
	assert_null(answer->text);
	assert_int_equal(answer->size, sizeof(*answer) + sizeof(*answer->results));
	rcm_answer_put(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_new_is_empty_and_owns_its_text),
		cmocka_unit_test(test_answer_lives_until_its_last_reference_goes),
		cmocka_unit_test(test_answer_failed_without_text_says_what_the_status_means),
		cmocka_unit_test(test_answer_fixed_is_never_freed),
		cmocka_unit_test(test_answer_fixed_ones_have_a_status_a_code_and_words),
		cmocka_unit_test(test_answer_parts_stand_behind_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
