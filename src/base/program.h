/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of the program as it may stand in a line for others: who starts it chooses it. */
#pragma once

#include <errno.h>
#include <stdio.h>

enum { RCM_PROGRAM_MAX = 33 };

/* Cut, and without control characters, so that it makes no line of its own. Returns buf. */
static inline const char *rcm_program_name(char buf[RCM_PROGRAM_MAX])
{
	snprintf(buf, RCM_PROGRAM_MAX, "%s", program_invocation_short_name);
	for (char *c = buf; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			*c = '?';
	return buf;
}
