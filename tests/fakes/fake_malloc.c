/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets one allocation fail. */
#include "fake_malloc.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Allocations still to succeed before the one that fails, which is at 0; below: calm. */
static atomic_int left = -1;
static atomic_bool failed;

static bool fails(void)
{
	bool now = atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;

	if (now)
		atomic_store(&failed, true);
	return now;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void rcm_fake_malloc_fail(unsigned nth)
{
	atomic_store(&failed, false);
	atomic_store(&left, (int)nth - 1);
}

bool rcm_fake_malloc_calm(void)
{
	atomic_store(&left, -1);
	return atomic_load(&failed);
}
