/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that may open so many descriptors more, and no others. */
#pragma once

#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

/* Those below the first free number are open. UINT_MAX: as many as before. */
static inline void few_fds_left(unsigned more)
{
	static struct rlimit before;
	struct rlimit few;
	int first;

	if (!before.rlim_max)
		getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	first = dup(0);
	close(first);
	if (more != UINT_MAX)
		few.rlim_cur = (rlim_t)first + more;
	setrlimit(RLIMIT_NOFILE, &few);
}
