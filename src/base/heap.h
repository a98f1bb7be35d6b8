/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive min-heap (a pairing heap): keys in order, equal keys in the order they were pushed; never allocates. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rcm_heap_node {
	uint64_t key;
	uint64_t tie;				/* order of pushing */
	struct rcm_heap_node *child;		/* first child */
	struct rcm_heap_node *next;		/* next sibling */
	struct rcm_heap_node *prev;		/* previous sibling, or the parent of a first child */
};

struct rcm_heap {
	struct rcm_heap_node *root;
	uint64_t pushed;
};

void rcm_heap_push(struct rcm_heap *heap, struct rcm_heap_node *node, uint64_t key);

/* The node must be in the heap. */
void rcm_heap_remove(struct rcm_heap *heap, struct rcm_heap_node *node);

/* The least node, or NULL; it stays in the heap. */
static inline struct rcm_heap_node *rcm_heap_first(const struct rcm_heap *heap)
{
	return heap->root;
}
