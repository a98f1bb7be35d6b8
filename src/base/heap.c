/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive pairing heap with a tie counter. */
#include "base/heap.h"

#include <stddef.h>

static bool heap_before(const struct rcm_heap_node *a, const struct rcm_heap_node *b)
{
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* Joins two heaps. What a root has for siblings is not looked at, and may be anything. */
static struct rcm_heap_node *heap_meld(struct rcm_heap_node *a, struct rcm_heap_node *b)
{
	struct rcm_heap_node *low, *high;

	if (!a || !b)
		return a ? a : b;
	low = heap_before(a, b) ? a : b;
	high = low == a ? b : a;
	high->next = low->child;
	if (high->next)
		high->next->prev = high;
	high->prev = low;
	low->child = high;
	return low;
}

/* Joins a list of siblings in two passes, without recursion: a list can be as long as the heap is large. */
static struct rcm_heap_node *meld_siblings(struct rcm_heap_node *first)
{
	struct rcm_heap_node *pairs = NULL, *all = NULL;

	while (first) {
		struct rcm_heap_node *a = first, *b = a->next;

		first = b ? b->next : NULL;
		a = heap_meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct rcm_heap_node *a = pairs;

		pairs = a->next;
		all = heap_meld(all, a);
	}
	return all;
}

void rcm_heap_push(struct rcm_heap *heap, struct rcm_heap_node *node, uint64_t key)
{
	*node = (struct rcm_heap_node){ .key = key, .tie = heap->pushed++ };
	heap->root = heap_meld(heap->root, node);
}

void rcm_heap_remove(struct rcm_heap *heap, struct rcm_heap_node *node)
{
	struct rcm_heap_node *rest = meld_siblings(node->child);

	if (node == heap->root) {
		heap->root = rest;
	} else {
		if (node->prev->child == node)
			node->prev->child = node->next;
		else
			node->prev->next = node->next;
		if (node->next)
			node->next->prev = node->prev;
		heap->root = heap_meld(heap->root, rest);
	}
	node->child = node->next = node->prev = NULL;
}
