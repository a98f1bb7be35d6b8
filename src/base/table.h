/* SPDX-License-Identifier: BSD-2-Clause */
/* uthash, set so that a table without memory to grow refuses an element (its hh.tbl is NULL then) and never exits. */
#pragma once

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
