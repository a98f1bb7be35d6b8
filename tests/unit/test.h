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
