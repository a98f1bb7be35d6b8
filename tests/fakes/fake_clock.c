/* SPDX-License-Identifier: BSD-2-Clause */
/* A clock that stands still until a test moves it. */
#include "fake_clock.h"

#include "base/clock.h"

static uint64_t at;

static uint64_t now(void)
{
	return at;
}

void rcm_fake_clock_use(uint64_t start)
{
	at = start;
	rcm_clock_replace(now);
}

void rcm_fake_clock_advance(uint64_t ns)
{
	at += ns;
}
