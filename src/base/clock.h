/* SPDX-License-Identifier: BSD-2-Clause */
/* Monotonic time in nanoseconds, from one replaceable source. */
#pragma once

#include <stdint.h>

#define RCM_NS_PER_MS 1000000ULL
#define RCM_NS_PER_S 1000000000ULL

/* Now, in ns of CLOCK_MONOTONIC. Any thread. */
uint64_t rcm_clock_now(void);

/* The same, a timer tick late (4 ms, say), and never a system call, as the other is on some machines. */
uint64_t rcm_clock_lately(void);

/*
 * Now, in ns that go on while the host is suspended (CLOCK_BOOTTIME): for what is out of date when the host comes back,
 * as others' data is, and no timer. Comparable with itself alone. Any thread.
 */
uint64_t rcm_clock_boot(void);

/* Puts another source in place (NULL: the real one again). Tests only, while no other thread runs. */
void rcm_clock_replace(uint64_t (*now)(void));
