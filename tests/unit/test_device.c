/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA devices: opened when needed, each once, and none hurts another (F22). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_malloc.h"
#include "fake_verbs.h"
#include "test.h"
#include "verbs/device.h"

/* A test's devices have GUIDs of their own, for the list of opened ones outlives it. */
static __be64 fresh_guid(void)
{
	static __be64 guid;

	return ++guid;
}

static int reset(void **state)
{
	(void)state;
	rcm_fake_verbs_reset();
	return 0;
}

/* Removes a device, notices it, and so has it closed. */
static void retire(unsigned device)
{
	struct rcm_device *none;

	rcm_fake_verbs_remove(device);
	assert_int_equal(rcm_device_get(fresh_guid(), -1, &none), -ENODEV);
}

static void test_device_is_opened_when_first_needed_and_once(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *one, *two;

	(void)state;
	assert_int_equal(rcm_fake_verbs_opens(d), 0);
	assert_int_equal(rcm_device_get(guid, 1, &one), 0);
	assert_int_equal(rcm_device_get(guid, 1, &two), 0);
	assert_ptr_equal(one, two);
	assert_int_equal(rcm_fake_verbs_opens(d), 1);
	assert_int_equal(rcm_fake_verbs_lists(), 1);
	assert_non_null(one->pd);
	assert_int_equal(one->max_responder_resources, 16);
	assert_int_equal(one->max_initiator_depth, 32);
	rcm_device_put(one);
	rcm_device_put(two);
	rcm_device_put(NULL);
	retire(d);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
}

static void test_device_idle_stays_open_until_removed(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *device;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 1, &device), 0);
	rcm_device_put(device);
	assert_int_equal(rcm_fake_verbs_open_now(d), 1);
	assert_int_equal(rcm_device_get(guid, 1, &device), 0);
	rcm_device_put(device);
	assert_int_equal(rcm_fake_verbs_opens(d), 1);
	retire(d);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
}

static void test_device_removed_goes_with_its_last_user(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *one, *two;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 1, &one), 0);
	assert_int_equal(rcm_device_get(guid, 1, &two), 0);
	rcm_device_set_removed(one);
	rcm_device_put(one);
	assert_int_equal(rcm_fake_verbs_open_now(d), 1);
	rcm_device_put(two);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
}

static void test_device_that_cannot_be_opened_hurts_no_other(void **state)
{
	__be64 bad_guid = fresh_guid(), good_guid = fresh_guid();
	unsigned good, bad = rcm_fake_verbs_add("bad", bad_guid, 1);
	struct rcm_device *device = NULL;

	(void)state;
	good = rcm_fake_verbs_add("good", good_guid, 2);
	rcm_fake_verbs_open_error(bad, EACCES);
	assert_int_equal(rcm_device_get(bad_guid, 1, &device), -EACCES);
	assert_null(device);
	assert_int_equal(rcm_device_get(good_guid, 2, &device), 0);
	rcm_device_put(device);
	rcm_fake_verbs_open_error(bad, 0);
	assert_int_equal(rcm_device_get(bad_guid, 1, &device), 0);
	rcm_device_put(device);
	retire(bad);
	retire(good);
}

static void test_device_that_appears_later_is_found(void **state)
{
	__be64 guid = fresh_guid();
	struct rcm_device *device;
	unsigned d;

	(void)state;
	assert_int_equal(rcm_device_get(guid, -1, &device), -ENODEV);
	d = rcm_fake_verbs_add("late", guid, 7);
	assert_int_equal(rcm_device_get(guid, -1, &device), 0);
	rcm_device_put(device);
	retire(d);
}

/* The first device of a kernel has index 0. */
static void test_device_of_repeated_guid_is_told_by_index(void **state)
{
	__be64 guid = fresh_guid();
	unsigned a = rcm_fake_verbs_add("a", guid, 0), b = rcm_fake_verbs_add("b", guid, 1);
	struct rcm_device *first, *second;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 1, &second), 0);
	assert_int_equal(rcm_device_get(guid, 0, &first), 0);
	assert_string_equal(first->verbs->device->name, "a");
	assert_string_equal(second->verbs->device->name, "b");
	rcm_device_put(first);
	rcm_device_put(second);
	retire(a);
	retire(b);
}

static void test_device_of_same_guid_made_anew_is_not_mistaken_for_old(void **state)
{
	__be64 guid = fresh_guid();
	unsigned old = rcm_fake_verbs_add("rxe0", guid, 5), new;
	struct rcm_device *a, *b;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 5, &a), 0);
	rcm_fake_verbs_remove(old);
	new = rcm_fake_verbs_add("rxe0", guid, 6);
	assert_int_equal(rcm_device_get(guid, 6, &b), 0);
	assert_ptr_not_equal(a, b);
	rcm_device_put(a);
	assert_int_equal(rcm_fake_verbs_open_now(old), 0);
	rcm_device_put(b);
	retire(new);
}

static void test_device_without_memory_for_domain_is_closed_again(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *device;

	(void)state;
	rcm_fake_verbs_fail(FAKE_ALLOC_PD, ENOMEM);
	assert_int_equal(rcm_device_get(guid, 1, &device), -ENOMEM);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
}

/* ibv_query_device() returns its errno, and errno itself is of something before. */
static void test_device_that_does_not_tell_its_limits_is_what_that_said_and_closed(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *device;

	(void)state;
	rcm_fake_verbs_fail(FAKE_QUERY_DEVICE, EIO);
	errno = ENOENT;
	assert_int_equal(rcm_device_get(guid, 1, &device), -EIO);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
}

static uint64_t roce_ports(void (*kind)(void), uint8_t link_layer, uint8_t ports)
{
	__be64 guid = fresh_guid();
	struct rcm_device *device;
	uint64_t found = 0;
	unsigned d;

	rcm_fake_verbs_reset();
	d = rcm_fake_verbs_add("a", guid, 1);
	rcm_fake_verbs_link(link_layer);
	rcm_fake_verbs_ports(ports);
	if (kind)
		kind();
	assert_int_equal(rcm_device_get(guid, 1, &device), 0);
	assert_false(rcm_device_is_roce(device, 64) || rcm_device_is_roce(device, 255));
	for (unsigned port = 0; port < 64; port++)
		found |= (uint64_t)rcm_device_is_roce(device, port) << port;
	rcm_device_put(device);
	retire(d);
	return found;
}

/* Of one with more ports than a switch has all up to the 63rd. */
static void test_device_of_roce_tells_which_ports_it_has(void **state)
{
	(void)state;
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_ETHERNET, 1) == 2);
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_ETHERNET, 3) == 14);
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_ETHERNET, 63) == ~UINT64_C(1));
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_ETHERNET, 64) == ~UINT64_C(1));
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_ETHERNET, 255) == ~UINT64_C(1));
	assert_true(roce_ports(NULL, IBV_LINK_LAYER_INFINIBAND, 3) == 0);
	assert_true(roce_ports(rcm_fake_verbs_iwarp, IBV_LINK_LAYER_ETHERNET, 3) == 0);
}

/* A connection's are octets. */
static void test_device_of_many_reads_has_as_many_as_can_be_told(void **state)
{
	static const int rows[][2] = { { 1, 1 }, { 0, 0 }, { 254, 254 }, { 255, 255 }, { 256, 255 }, { 65535, 255 } };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		const int *row = rows[i / 2];
		__be64 guid = fresh_guid();
		struct rcm_device *device;
		unsigned d;

		rcm_fake_verbs_reset();
		d = rcm_fake_verbs_add("a", guid, 1);
		rcm_fake_verbs_reads(i % 2 ? 3 : row[0], i % 2 ? row[0] : 3);
		assert_int_equal(rcm_device_get(guid, 1, &device), 0);
		assert_int_equal(device->max_responder_resources, i % 2 ? 3 : row[1]);
		assert_int_equal(device->max_initiator_depth, i % 2 ? row[1] : 3);
		rcm_device_put(device);
		retire(d);
	}
}

/* The name is no part of what a device is. */
static void test_device_renamed_is_the_one_that_is_open(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("before", guid, 1), renamed;
	struct rcm_device *one, *two;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 1, &one), 0);
	rcm_fake_verbs_remove(d);
	renamed = rcm_fake_verbs_add("after", guid, 1);
	/* Somebody lists the devices. */
	assert_int_equal(rcm_device_get(fresh_guid(), -1, &two), -ENODEV);
	assert_int_equal(rcm_device_get(guid, 1, &two), 0);
	assert_ptr_equal(one, two);
	rcm_device_put(one);
	rcm_device_put(two);
	assert_int_equal(rcm_fake_verbs_opens(renamed), 0);
	retire(renamed);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
}

static __be64 raced_guid;
static struct rcm_device *first_opened;

static void be_first(void)
{
	assert_int_equal(rcm_device_get(raced_guid, 1, &first_opened), 0);
}

/* Another thread's is in the list by the time that this one is open. */
static void test_device_that_was_opened_meanwhile_is_that_one(void **state)
{
	struct rcm_device *device;
	unsigned d;

	(void)state;
	raced_guid = fresh_guid();
	d = rcm_fake_verbs_add("a", raced_guid, 1);
	rcm_fake_verbs_before_open(be_first);
	assert_int_equal(rcm_device_get(raced_guid, 1, &device), 0);
	assert_ptr_equal(device, first_opened);
	assert_int_equal(rcm_fake_verbs_opens(d), 2);
	assert_int_equal(rcm_fake_verbs_open_now(d), 1);
	rcm_device_put(device);
	rcm_device_put(first_opened);
	retire(d);
	assert_int_equal(rcm_fake_verbs_open_now(d), 0);
}

static void test_device_xrc_domain_is_shared(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct ibv_xrcd *one, *two;
	struct rcm_device *device;

	(void)state;
	assert_int_equal(rcm_device_get(guid, 1, &device), 0);
	assert_int_equal(rcm_device_xrcd(device, &one), 0);
	assert_int_equal(rcm_device_xrcd(device, &two), 0);
	assert_ptr_equal(one, two);
	rcm_device_put(device);
	retire(d);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
}

static void test_device_list_leaves_out_what_cannot_be_opened(void **state)
{
	__be64 bad_guid = fresh_guid(), good_guid = fresh_guid();
	unsigned good, bad = rcm_fake_verbs_add("bad", bad_guid, 1);
	struct ibv_context **list;
	int count = 0;

	(void)state;
	good = rcm_fake_verbs_add("good", good_guid, 2);
	rcm_fake_verbs_open_error(bad, ENODEV);
	assert_int_equal(rcm_device_list_open(&list, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(list[0]->device->name, "good");
	assert_null(list[1]);
	free(list);
	/* Handed out: it stays open for good, as applications keep what is in the list. */
	retire(good);
	assert_int_equal(rcm_fake_verbs_open_now(good), 1);
	assert_int_equal(rcm_device_list_open(&list, &count), -ENODEV);
}

struct race {
	__be64 guid;
	struct rcm_device *device;
};

static void *get_in_thread(void *arg)
{
	struct race *race = arg;

	return (void *)(intptr_t)rcm_device_get(race->guid, 1, &race->device);
}

/* The list of libibverbs, then what the library has of its own. */
static void test_device_without_memory_is_told_as_such_and_there_the_next_time(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct ibv_context **list = NULL;
	struct rcm_device *device = NULL;
	int count = 7;

	(void)state;
	for (unsigned nth = 1; nth <= 2; nth++) {
		errno = ENOMEM;
		rcm_fake_malloc_fail(nth);
		assert_int_equal(rcm_device_get(guid, 1, &device), -ENOMEM);
		errno = ENOMEM;
		rcm_fake_malloc_fail(nth);
		assert_int_equal(rcm_device_list_open(&list, &count), -ENOMEM);
		assert_true(rcm_fake_malloc_calm());
	}
	/* As where the kernel has no RDMA. */
	errno = ENOSYS;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_device_get(guid, 1, &device), -ENODEV);
	assert_true(rcm_fake_malloc_calm());
	assert_null(device);
	assert_null(list);
	assert_int_equal(count, 7);
	assert_int_equal(rcm_fake_verbs_opens(d), 0);
	assert_int_equal(rcm_device_get(guid, 1, &device), 0);
	rcm_device_put(device);
	retire(d);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
}

static void test_device_opened_by_many_threads_is_one(void **state)
{
	enum { THREADS = 8 };
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct race races[THREADS];
	pthread_t threads[THREADS];
	void *ret;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		races[i] = (struct race){ .guid = guid };
		assert_int_equal(pthread_create(&threads[i], NULL, get_in_thread, &races[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &ret), 0);
		assert_null(ret);
		assert_ptr_equal(races[i].device, races[0].device);
	}
	assert_int_equal(rcm_fake_verbs_open_now(d), 1);
	for (unsigned i = 0; i < THREADS; i++)
		rcm_device_put(races[i].device);
	retire(d);
	assert_int_equal(rcm_fake_verbs_objects(), 0);
}

static atomic_bool stop;

static void *get_and_put(void *arg)
{
	struct rcm_device *device;

	while (!atomic_load(&stop))
		if (!rcm_device_get(*(__be64 *)arg, 1, &device))
			rcm_device_put(device);
	return NULL;
}

static void test_device_list_of_a_forked_child_is_free_whatever_the_parents_threads_do(void **state)
{
	__be64 guid = fresh_guid();
	unsigned d = rcm_fake_verbs_add("a", guid, 1);
	struct rcm_device *device;
	pthread_t threads[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_and_put, &guid), 0);
	for (unsigned i = 0; i < 200; i++) {
		int status = -1;
		pid_t child = fork();

		if (!child) {
			alarm(20);
			_exit(rcm_device_get(guid, 1, &device) != 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	retire(d);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		T(test_device_is_opened_when_first_needed_and_once),
		T(test_device_idle_stays_open_until_removed),
		T(test_device_removed_goes_with_its_last_user),
		T(test_device_that_cannot_be_opened_hurts_no_other),
		T(test_device_that_appears_later_is_found),
		T(test_device_of_repeated_guid_is_told_by_index),
		T(test_device_of_same_guid_made_anew_is_not_mistaken_for_old),
		T(test_device_without_memory_for_domain_is_closed_again),
		T(test_device_that_does_not_tell_its_limits_is_what_that_said_and_closed),
		T(test_device_of_roce_tells_which_ports_it_has),
		T(test_device_of_many_reads_has_as_many_as_can_be_told),
		T(test_device_renamed_is_the_one_that_is_open),
		T(test_device_that_was_opened_meanwhile_is_that_one),
		T(test_device_xrc_domain_is_shared),
		T(test_device_list_leaves_out_what_cannot_be_opened),
		T(test_device_opened_by_many_threads_is_one),
		T(test_device_without_memory_is_told_as_such_and_there_the_next_time),
		T(test_device_list_of_a_forked_child_is_free_whatever_the_parents_threads_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
