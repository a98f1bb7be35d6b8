/* SPDX-License-Identifier: BSD-2-Clause */
/* What every unit test includes: cmocka, in the order it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Before cmocka 2. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#if defined(__SANITIZE_ADDRESS__)
/* A cancelled thread's frames stay marked, and at the thread's end AddressSanitizer itself has its signal stack there. */
__attribute__((weak)) const char *__asan_default_options(void);

__attribute__((weak)) const char *__asan_default_options(void)
{
	return "use_sigaltstack=0";
}
#endif
