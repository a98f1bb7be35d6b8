/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time that passes as a test wants it, for a loop that runs on a thread of its own. Frozen, the clock stands still; let
 * go, it leaps from one timer of the loop to the next, so that what the test measures is what the loop asked for, and not
 * how busy the machine is. A program that has it is linked with --wrap=epoll_wait.
 */
#pragma once

#include <stdint.h>

/* Before any other thread runs. */
void rcm_fake_time_use(void);

/* Also where it leaps. */
void rcm_fake_time_freeze(void);

/* Lets it leap, over so much time at the most: everything that a timer is for has begun. */
void rcm_fake_time_leap(uint64_t ns);

/* It passes by itself again. */
void rcm_fake_time_thaw(void);

/* So much passes at once, frozen or not, while the loop sleeps: it sees that from its next turn on. */
void rcm_fake_time_advance(uint64_t ns);
