/* SPDX-License-Identifier: BSD-2-Clause */
/* uthash, set so that a table without memory to grow refuses an element (its hh.tbl is NULL then) and never exits, and
 * that nobody who chooses keys can choose their buckets. */
#pragma once

#include "base/hash.h"

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) ((hash) = rcm_hash(key, len))
#include <uthash.h>
