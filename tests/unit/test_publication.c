/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that are published: how many there can be, and those whose engine is lost before it began with them. */
#include "resolve/publication.h"

#include <errno.h>
#include <stdlib.h>

#include "fake_malloc.h"
#include "test.h"

static const struct rcm_service_offer offer = { .port.raw = { 0xfe, 0x80, [15] = 1 }, .id = 7, .lease_s = 120 };
static struct rcm_publication *all[RCM_PUBLISHED_MAX];
static unsigned told, over;

static struct rcm_publication *make(struct rcm_engine *engine)
{
	struct rcm_publication *publication = NULL;

	assert_int_equal(rcm_publication_new(&offer, engine, &publication), 0);
	return publication;
}

static void test_publications_are_so_many_and_no_more(void **state)
{
	struct rcm_publication *more = NULL;

	(void)state;
	for (unsigned i = 0; i < RCM_PUBLISHED_MAX; i++)
		all[i] = make(NULL);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rcm_publication_new(&offer, NULL, &more), -EAGAIN);
	assert_null(more);
	rcm_publication_free(all[0]);
	all[0] = make(NULL);
	assert_int_equal(rcm_publication_new(&offer, NULL, &more), -EAGAIN);
	for (unsigned i = 0; i < RCM_PUBLISHED_MAX; i++)
		rcm_publication_free(all[i]);
}

/* As often as there can be publications: none of these counts as one. */
static void test_publication_without_memory_is_none(void **state)
{
	struct rcm_publication *publication = NULL;

	(void)state;
	for (unsigned i = 0; i < RCM_PUBLISHED_MAX; i++) {
		rcm_fake_malloc_fail(1);
		assert_int_equal(rcm_publication_new(&offer, NULL, &publication), -ENOMEM);
		assert_true(rcm_fake_malloc_calm());
	}
	assert_null(publication);
	rcm_publication_free(make(NULL));
}

static void publication_told(void *arg, const struct rcm_service_outcome *outcome)
{
	(void)arg;
	assert_int_equal(outcome->status, -EMFILE);
	told++;
}

static void publication_over(void *arg)
{
	(void)arg;
	over++;
}

/* One whose start the engine had not run yet, and which waits for another engine now. */
static struct rcm_publication *lose(struct rcm_engine *engine)
{
	struct rcm_errands errands = STAILQ_HEAD_INITIALIZER(errands), late = STAILQ_HEAD_INITIALIZER(late);
	struct rcm_publication *publication = make(engine);

	publication->told = publication_told;
	publication->over = publication_over;
	STAILQ_INSERT_TAIL(&errands, &publication->start, entry);
	assert_false(rcm_publication_any_stranded());
	rcm_publication_lose_all(engine, &errands, &late);
	assert_true(rcm_publication_any_stranded());
	assert_true(STAILQ_EMPTY(&errands) && STAILQ_EMPTY(&late));
	return publication;
}

/* To a lost engine nothing is said any more. */
static void test_publication_whose_engine_was_lost_is_stopped_where_it_waits(void **state)
{
	static struct rcm_engine engine;
	struct rcm_publication *publication = lose(&engine);

	(void)state;
	told = over = 0;
	assert_false(rcm_publication_stop(publication));
	assert_int_equal(over, 0);
	rcm_publication_forsake_all(-EMFILE);
	assert_int_equal(over, 1);
	assert_false(rcm_publication_any_stranded());
}

static void test_publication_whose_engine_was_lost_is_told_once_and_waits_on(void **state)
{
	static struct rcm_engine engine;
	struct rcm_publication *publication = lose(&engine);

	(void)state;
	told = over = 0;
	for (unsigned i = 0; i < 2; i++) {
		rcm_publication_forsake_all(-EMFILE);
		assert_int_equal(told, 1);
		assert_true(rcm_publication_any_stranded());
	}
	assert_int_equal(over, 0);
	assert_false(rcm_publication_stop(publication));
	rcm_publication_forsake_all(-EMFILE);
	assert_int_equal(told, 1);
	assert_int_equal(over, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publications_are_so_many_and_no_more),
		cmocka_unit_test(test_publication_without_memory_is_none),
		cmocka_unit_test(test_publication_whose_engine_was_lost_is_stopped_where_it_waits),
		cmocka_unit_test(test_publication_whose_engine_was_lost_is_told_once_and_waits_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
