/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashes of keys that others choose: names that are asked for, services. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* With a random key of this process, so that nobody can choose names that all fall into one bucket. Any thread. */
unsigned rcm_hash(const void *bytes, size_t len);
