/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an SA takes for an answer. */
#include "sa/pace.h"

#include "base/clock.h"
#include "base/random.h"

#define SAYS_MAX_NS (4 * RCM_NS_PER_S)

void rcm_pace_init(struct rcm_pace *pace)
{
	*pace = (struct rcm_pace){ 0 };
	rcm_random_fill(&pace->random, sizeof(pace->random));
	pace->random |= 1;
}

void rcm_pace_note(struct rcm_pace *pace, uint64_t took)
{
	pace->seen = took > pace->seen ? took : pace->seen - (pace->seen - took) / 8;
}

void rcm_pace_said(struct rcm_pace *pace, uint64_t says)
{
	pace->says = says < SAYS_MAX_NS ? says : SAYS_MAX_NS;
}

void rcm_pace_forget(struct rcm_pace *pace)
{
	pace->seen = pace->says = 0;
	pace->asked = false;
}

uint64_t rcm_pace_random(struct rcm_pace *pace)
{
	/* xorshift64: Marsaglia, Journal of Statistical Software 8(14), 2003 */
	pace->random ^= pace->random << 13;
	pace->random ^= pace->random >> 7;
	pace->random ^= pace->random << 17;
	return pace->random;
}
