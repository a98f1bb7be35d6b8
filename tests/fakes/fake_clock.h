/* SPDX-License-Identifier: BSD-2-Clause */
/* A clock that stands still until a test moves it. rcm_clock_replace(NULL) brings the real one back. */
#pragma once

#include <stdint.h>

void rcm_fake_clock_use(uint64_t now);
void rcm_fake_clock_advance(uint64_t ns);
