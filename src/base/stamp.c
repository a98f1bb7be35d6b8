/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices changes of a file by its inode. */
#include "base/stamp.h"

#include <stdint.h>
#include <time.h>

/*
 * The file system's clock ticks in steps, of 10 ms at most, and where times have no fraction, of 2 s at most: two
 * changes in one step look like one.
 */
enum { STEP_MS = 20, STEP_WITHOUT_FRACTION_MS = 2000 };

/* The wall clock may have been set back since the change, and its age is negative then: that says nothing. */
static bool is_fresh(const struct timespec *changed)
{
	int64_t step = changed->tv_nsec ? STEP_MS : STEP_WITHOUT_FRACTION_MS, age;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	age = (int64_t)(now.tv_sec - changed->tv_sec) * 1000 + (now.tv_nsec - changed->tv_nsec) / 1000000;
	return age > -step && age < step;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool rcm_stamp_changed(struct rcm_stamp *stamp, const char *path)
{
	struct rcm_stamp now = { .looked = true };
	struct stat st;
	bool changed;

	if (!stat(path, &st)) {
		now.dev = st.st_dev;
		now.ino = st.st_ino;
		now.size = st.st_size;
		now.mtime = st.st_mtim;
		now.ctime = st.st_ctim;
		now.fresh = is_fresh(&st.st_ctim);
	}
	changed = !stamp->looked || stamp->fresh || stamp->dev != now.dev || stamp->ino != now.ino ||
		  stamp->size != now.size || !same_time(&stamp->mtime, &now.mtime) ||
		  !same_time(&stamp->ctime, &now.ctime);
	*stamp = now;
	return changed;
}
