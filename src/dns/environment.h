/* SPDX-License-Identifier: BSD-2-Clause */
/* The variables that libc's resolver goes by. The application may change its environment at any time, so only its own
 * threads may look at that: this is a copy. */
#pragma once

#include <stdbool.h>

struct rcm_environment {
	char *domains;			/* LOCALDOMAIN; NULL: not set */
	char *options;			/* RES_OPTIONS; NULL: not set */
	bool aliases;			/* HOSTALIASES is set */
};

/* Copies them: 0 or -ENOMEM, and the copy is as it was. On a caller's thread, before there is one that reads the copy:
 * whenever the resolver starts. */
int rcm_environment_take(void);

/* The copy; nothing is set before the first was taken. Any thread. */
const struct rcm_environment *rcm_environment_get(void);
