/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of chance. */
#pragma once

#include <stddef.h>

/*
 * Fills len bytes with what nobody can guess: what the kernel gives. Where it has nothing yet, early in a boot, or a
 * sandbox refuses it, they are made of what it gave this program at its start, and are another's to guess only who
 * knows that. Never fails, never waits, keeps errno; no cancellation point. Any thread.
 */
void rcm_random_fill(void *to, size_t len);
