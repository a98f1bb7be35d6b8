/* SPDX-License-Identifier: BSD-2-Clause */
/* When a lease is renewed, and when what failed is tried again (pure). Times in ns. */
#pragma once

#include <stdint.h>

/* From one renewal to the next: a third of the lease, less a tenth of that at most, as chance (any number) has it, so
 * that what was registered together isn't renewed together for ever. */
uint64_t rcm_lease_renewal(uint32_t lease_s, uint64_t chance);

/* How long a question about it may take. */
uint64_t rcm_lease_patience(uint32_t lease_s);

/* Until the next attempt after so many failures in a row: a second, or a twelfth of a short lease, then twice as long
 * each time up to a third; of each a quarter is left out at most, as chance has it. */
uint64_t rcm_lease_pause(uint32_t lease_s, unsigned failures, uint64_t chance);
