/* SPDX-License-Identifier: BSD-2-Clause */
/* One thing that rai doctor looked at: how it is, and what mends it. */
#pragma once

#include <stdint.h>

enum cli_verdict { CLI_OK, CLI_WARNING, CLI_BAD };

struct cli_finding {
	enum cli_verdict verdict;
	char text[400];
	char mend[400];		/* a command, or words; empty: nothing to mend, or nothing known */
	int64_t time_us;	/* how long an answer took; negative: nobody was asked */
};

void cli_finding_set(struct cli_finding *finding, enum cli_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void cli_finding_mend(struct cli_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
