/* SPDX-License-Identifier: BSD-2-Clause */
/* Zeroed memory from what this thread freed before, which calloc(3) passes by (glibc before 2.41). */
#pragma once

#include <stdlib.h>
#include <string.h>

/* NULL: no memory. With memset(3) the compiler makes it calloc(3). */
static inline void *rcm_zalloc(size_t size)
{
	void *memory = malloc(size);

	if (memory)
		explicit_bzero(memory, size);
	return memory;
}
