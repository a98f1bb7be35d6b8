/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept answers, beside a dumb model. */
#include <stdio.h>

#include "base/limits.h"
#include "base/table.h"
#include "resolve/cache.h"
#include "test.h"

static struct rcm_cache cache;

static struct rcm_answer *answer_of(unsigned results, uint64_t mark)
{
	struct rcm_answer *answer;

	assert_int_equal(rcm_answer_new(results, NULL, &answer), 0);
	answer->arg = mark;
	return answer;
}

static void put(const char *key, uint64_t mark, uint64_t now, uint64_t expires)
{
	struct rcm_answer *answer = answer_of(1, mark);
	unsigned hash, len = (unsigned)strlen(key);

	HASH_VALUE(key, len, hash);
	rcm_cache_drop(&cache, key, len, hash);
	rcm_cache_put(&cache, key, len, hash, answer, now, expires);
	rcm_answer_put(answer);
}

/* The mark of what is kept, 0: nothing. */
static uint64_t find(const char *key, uint64_t now)
{
	unsigned hash, len = (unsigned)strlen(key);
	struct rcm_answer *answer;
	uint64_t mark;

	HASH_VALUE(key, len, hash);
	answer = rcm_cache_find(&cache, key, len, hash, now);
	mark = answer ? answer->arg : 0;
	rcm_answer_put(answer);
	return mark;
}

static int teardown(void **state)
{
	(void)state;
	rcm_cache_clear(&cache);
	assert_int_equal(rcm_cache_count(&cache), 0);
	assert_int_equal(cache.bytes, 0);
	return 0;
}

static void test_cache_gives_an_answer_until_it_expires(void **state)
{
	(void)state;
	put("a", 1, 100, 200);
	assert_int_equal(find("a", 199), 1);
	assert_int_equal(find("b", 199), 0);
	assert_int_equal(find("a", 200), 0);
	assert_int_equal(rcm_cache_count(&cache), 0);
}

static void test_cache_keeps_nothing_that_has_expired_already(void **state)
{
	(void)state;
	put("a", 1, 100, 100);
	assert_int_equal(rcm_cache_count(&cache), 0);
}

static void test_cache_drop_makes_room_under_the_key(void **state)
{
	(void)state;
	put("a", 1, 0, 200);
	put("a", 2, 0, 100);
	assert_int_equal(find("a", 50), 2);
	assert_int_equal(find("a", 150), 0);
}

static void test_cache_answer_outlives_its_place_in_the_cache(void **state)
{
	struct rcm_answer *answer = answer_of(1, 7);

	(void)state;
	rcm_cache_put(&cache, "k", 1, 5, answer, 0, 10);
	assert_ptr_equal(rcm_cache_find(&cache, "k", 1, 5, 1), answer);
	rcm_cache_clear(&cache);
	rcm_answer_put(answer);
	assert_int_equal(answer->arg, 7);
	rcm_answer_put(answer);
}

static void test_cache_when_full_gives_up_the_oldest(void **state)
{
	char key[16];

	(void)state;
	for (unsigned i = 0; i <= RCM_KEPT_MAX; i++) {
		snprintf(key, sizeof(key), "%u", i);
		put(key, i + 1, 0, 100000 - i);
	}
	assert_int_equal(rcm_cache_count(&cache), RCM_KEPT_MAX);
	assert_int_equal(find("0", 1), 0);
	assert_int_equal(find("1", 1), 2);
}

static void test_cache_is_limited_in_bytes_too(void **state)
{
	char key[16];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct rcm_answer *answer = answer_of(RCM_RESULTS_MAX, i + 1);

		snprintf(key, sizeof(key), "%u", i);
		rcm_cache_put(&cache, key, (unsigned)strlen(key), i, answer, 0, 1000 + i);
		rcm_answer_put(answer);
		assert_true(cache.bytes <= RCM_KEPT_BYTES_MAX);
	}
	assert_uint_in_range(rcm_cache_count(&cache), 2, 199);
}

/* What is kept takes its key's bytes, and some more. */
static void put_long(const char *key, size_t len)
{
	struct rcm_answer *answer = answer_of(1, 1);

	rcm_cache_put(&cache, key, (unsigned)len, (unsigned)len, answer, 0, 10);
	rcm_answer_put(answer);
}

static void test_cache_holds_as_many_bytes_as_its_limit(void **state)
{
	static char key[RCM_KEPT_BYTES_MAX];
	size_t most, beside;

	(void)state;
	put_long(key, 1);
	most = RCM_KEPT_BYTES_MAX - cache.bytes + 1;
	beside = most - cache.bytes;
	put_long(key, beside);
	assert_int_equal(rcm_cache_count(&cache), 2);
	assert_int_equal(cache.bytes, RCM_KEPT_BYTES_MAX);
	rcm_cache_clear(&cache);
	put_long(key, 1);
	put_long(key, beside + 1);
	assert_int_equal(rcm_cache_count(&cache), 1);
	rcm_cache_clear(&cache);
	put_long(key, most);
	assert_int_equal(rcm_cache_count(&cache), 1);
	rcm_cache_clear(&cache);
	put_long(key, most + 1);
	assert_int_equal(rcm_cache_count(&cache), 0);
}

/* The dumb model: an array, searched from end to end. */
enum { MODEL = 64 };

static struct {
	uint64_t mark, expires;
} model[MODEL];

static void test_cache_agrees_with_a_dumb_model(void **state)
{
	uint64_t now = 1, mark = 0;
	char key[16];

	(void)state;
	srand(1);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned k = (unsigned)rand() % MODEL;

		snprintf(key, sizeof(key), "%u", k);
		switch (rand() % 4) {
		case 0:
			model[k].mark = ++mark;
			model[k].expires = now + (unsigned)rand() % 50;
			put(key, mark, now, model[k].expires);
			if (model[k].expires <= now)
				model[k].mark = 0;
			break;
		case 1:
			now += (unsigned)rand() % 10;
			break;
		default:
			assert_int_equal(find(key, now), model[k].expires > now ? model[k].mark : 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_teardown(name, teardown)
		T(test_cache_gives_an_answer_until_it_expires),
		T(test_cache_keeps_nothing_that_has_expired_already),
		T(test_cache_drop_makes_room_under_the_key),
		T(test_cache_answer_outlives_its_place_in_the_cache),
		T(test_cache_when_full_gives_up_the_oldest),
		T(test_cache_is_limited_in_bytes_too),
		T(test_cache_holds_as_many_bytes_as_its_limit),
		T(test_cache_agrees_with_a_dumb_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
