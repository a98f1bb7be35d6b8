/* SPDX-License-Identifier: BSD-2-Clause */
/* From uid to id. */
#include "cm/table.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { IDS = 500, ROUNDS = 20000, BUSY = 100 };

static struct rcm_entry *make_ids(unsigned count)
{
	struct rcm_entry *ids = calloc(count, sizeof(*ids));

	assert_non_null(ids);
	for (unsigned i = 0; i < count; i++)
		atomic_init(&ids[i].refs, 1);
	return ids;
}

static void test_table_entry_is_found_with_a_reference_until_removed(void **state)
{
	struct rcm_entry *id = make_ids(1);
	uint64_t uid = 0;

	(void)state;
	assert_int_equal(rcm_table_add(id, &uid), 0);
	/* None is 0, which stands for no id. */
	assert_true(uid >> 32);
	assert_ptr_equal(rcm_table_find(uid), id);
	assert_int_equal(atomic_load(&id->refs), 2);
	rcm_table_remove(uid);
	assert_null(rcm_table_find(uid));
	assert_int_equal(atomic_load(&id->refs), 2);
	free(id);
}

static void test_table_entry_without_references_is_found_by_nobody(void **state)
{
	struct rcm_entry *id = make_ids(1);
	uint64_t uid;

	(void)state;
	rcm_table_add(id, &uid);
	/* Who gave the last one up waits to remove it. */
	atomic_store(&id->refs, 0);
	assert_null(rcm_table_find(uid));
	assert_int_equal(atomic_load(&id->refs), 0);
	rcm_table_remove(uid);
	free(id);
}

static void test_table_unknown_uids_are_nobody(void **state)
{
	(void)state;
	assert_null(rcm_table_find(0));
	assert_null(rcm_table_find(UINT64_MAX));
	assert_null(rcm_table_find(1ULL << 32 | 0xffffffff));
	rcm_table_remove(0);
	rcm_table_remove(UINT64_MAX);
}

static void test_table_reused_slot_gives_another_uid(void **state)
{
	struct rcm_entry *ids = make_ids(2);
	uint64_t first, second;

	(void)state;
	rcm_table_add(&ids[0], &first);
	rcm_table_remove(first);
	rcm_table_add(&ids[1], &second);
	assert_int_equal((uint32_t)first, (uint32_t)second);
	assert_true(first != second);
	assert_null(rcm_table_find(first));
	rcm_table_remove(first);
	assert_ptr_equal(rcm_table_find(second), &ids[1]);
	rcm_table_remove(second);
	free(ids);
}

/* In order; what is an id's beside its own entry, as a membership is, isn't one. */
static void test_table_goes_through_the_ids_that_are_there(void **state)
{
	struct rcm_entry *ids = make_ids(IDS);
	uint64_t memberships[IDS];
	uint32_t number = 0;

	(void)state;
	for (unsigned i = 0; i < IDS; i++) {
		assert_int_equal(rcm_table_enter(&ids[i]), 0);
		assert_int_equal(rcm_table_add(&ids[i], &memberships[i]), 0);
	}
	for (unsigned i = 0; i < IDS; i += 2)
		rcm_table_remove(ids[i].uid);
	for (unsigned i = 1; i < IDS; i += 2)
		assert_ptr_equal(rcm_table_next(&number), &ids[i]);
	assert_null(rcm_table_next(&number));
	for (unsigned i = 0; i < IDS; i++) {
		rcm_table_remove(ids[i].uid);
		rcm_table_remove(memberships[i]);
	}
	number = 0;
	assert_null(rcm_table_next(&number));
	free(ids);
}

/* Beside a dumb model: an array of uids. */
static void test_table_random_use_agrees_with_model(void **state)
{
	struct rcm_entry *ids = make_ids(IDS);
	uint64_t uids[IDS] = { 0 }, past[IDS] = { 0 };

	(void)state;
	srandom(1);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned n = (unsigned)random() % IDS;

		if (uids[n]) {
			assert_ptr_equal(rcm_table_find(uids[n]), &ids[n]);
			rcm_table_remove(uids[n]);
			past[n] = uids[n];
			uids[n] = 0;
		} else {
			assert_null(rcm_table_find(past[n]));
			assert_int_equal(rcm_table_add(&ids[n], &uids[n]), 0);
			assert_true(uids[n] && uids[n] != past[n]);
		}
	}
	for (unsigned n = 0; n < IDS; n++)
		rcm_table_remove(uids[n]);
	free(ids);
}

static void *add_find_remove(void *arg)
{
	struct rcm_entry *id = arg;
	uint64_t uid;

	for (int i = 0; i < ROUNDS; i++) {
		rcm_table_add(id, &uid);
		if (rcm_table_find(uid) != id)
			return id;
		rcm_table_remove(uid);
		if (rcm_table_find(uid))
			return id;
	}
	return NULL;
}

static void test_table_threads_find_their_own(void **state)
{
	struct rcm_entry *ids = make_ids(4);
	pthread_t threads[4];
	void *wrong;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_find_remove, &ids[i]), 0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	free(ids);
}

static atomic_bool stop;

/* Now and then it lets others run while it has no lock: on one processor a fork might wait for that for minutes. */
static void *add_and_remove(void *arg)
{
	uint64_t uid = 0;

	for (unsigned i = 0; !atomic_load(&stop); i++) {
		if (!rcm_table_add(arg, &uid))
			rcm_table_remove(uid);
		if (i % BUSY == 0)
			sched_yield();
	}
	return NULL;
}

static void test_table_of_a_forked_child_is_free_whatever_the_parents_threads_do(void **state)
{
	struct rcm_entry *ids = make_ids(3);
	pthread_t threads[2];
	uint64_t uid = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, &ids[i]), 0);
	for (unsigned i = 0; i < 200; i++) {
		int status = -1;
		pid_t child = fork();

		if (!child) {
			alarm(20);
			_exit(rcm_table_add(&ids[2], &uid) || rcm_table_find(uid) != &ids[2]);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_goes_through_the_ids_that_are_there),
		cmocka_unit_test(test_table_entry_is_found_with_a_reference_until_removed),
		cmocka_unit_test(test_table_entry_without_references_is_found_by_nobody),
		cmocka_unit_test(test_table_unknown_uids_are_nobody),
		cmocka_unit_test(test_table_reused_slot_gives_another_uid),
		cmocka_unit_test(test_table_random_use_agrees_with_model),
		cmocka_unit_test(test_table_threads_find_their_own),
		cmocka_unit_test(test_table_of_a_forked_child_is_free_whatever_the_parents_threads_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
