/* SPDX-License-Identifier: BSD-2-Clause */
/* When a lease is renewed, and when what failed is tried again (pure). */
#include "publish/lease.h"

#include "base/clock.h"
#include "base/limits.h"

enum { DOUBLINGS_MAX = 16 };

static uint64_t lease_third(uint32_t lease_s)
{
	return lease_s * RCM_NS_PER_S / 3;
}

uint64_t rcm_lease_renewal(uint32_t lease_s, uint64_t chance)
{
	uint64_t third = lease_third(lease_s);

	return third - chance % (third / 10 + 1);
}

uint64_t rcm_lease_patience(uint32_t lease_s)
{
	uint64_t usual = RCM_SA_DEADLINE_MS * RCM_NS_PER_MS, third = lease_third(lease_s);

	if (third < RCM_NS_PER_S)
		third = RCM_NS_PER_S;
	return third < usual ? third : usual;
}

uint64_t rcm_lease_pause(uint32_t lease_s, unsigned failures, uint64_t chance)
{
	uint64_t third = lease_third(lease_s), first = third / 4, pause;
	unsigned doublings = failures ? failures - 1 : 0;

	if (first > RCM_NS_PER_S)
		first = RCM_NS_PER_S;
	pause = first << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
	if (pause > third)
		pause = third;
	return pause - chance % (pause / 4 + 1);
}
