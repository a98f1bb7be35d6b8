/* SPDX-License-Identifier: BSD-2-Clause */
/* The heap against a dumb model: an array searched from end to end. */
#include "base/heap.h"
#include "test.h"

enum { NODES = 500, ROUNDS = 20000 };

static struct rcm_heap_node nodes[NODES];
static bool inside[NODES];

static struct rcm_heap_node *least(void)
{
	struct rcm_heap_node *best = NULL;

	for (int i = 0; i < NODES; i++) {
		struct rcm_heap_node *n = &nodes[i];

		if (inside[i] && (!best || n->key < best->key || (n->key == best->key && n->tie < best->tie)))
			best = n;
	}
	return best;
}

static void test_heap_random_operations_first_is_least(void **state)
{
	struct rcm_heap heap = { 0 };

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int i = rand() % NODES;

		if (inside[i])
			rcm_heap_remove(&heap, &nodes[i]);
		else
			rcm_heap_push(&heap, &nodes[i], (uint64_t)(rand() % 50));
		inside[i] = !inside[i];
		assert_ptr_equal(rcm_heap_first(&heap), least());
	}
}

static void test_heap_equal_keys_leave_in_order_of_pushing(void **state)
{
	struct rcm_heap heap = { 0 };

	(void)state;
	for (int i = 0; i < NODES; i++)
		rcm_heap_push(&heap, &nodes[i], 7);
	for (int i = 0; i < NODES; i++) {
		assert_ptr_equal(rcm_heap_first(&heap), &nodes[i]);
		rcm_heap_remove(&heap, &nodes[i]);
	}
	assert_null(rcm_heap_first(&heap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_random_operations_first_is_least),
		cmocka_unit_test(test_heap_equal_keys_leave_in_order_of_pushing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
