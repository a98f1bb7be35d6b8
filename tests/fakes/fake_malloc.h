/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets one allocation fail. For a program linked with --wrap=malloc, --wrap=calloc and --wrap=realloc. */
#pragma once

#include <stdbool.h>

/* The nth allocation from now (1: the next), of any thread, fails. */
void rcm_fake_malloc_fail(unsigned nth);

/* No more failures. True where one has failed since rcm_fake_malloc_fail(). */
bool rcm_fake_malloc_calm(void);
