/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells whether a file is still the one that was read. */
#include "base/stamp.h"

#include <string.h>
#include <sys/stat.h>

bool rcm_stamp_update(struct rcm_stamp *stamp, const char *path)
{
	struct rcm_stamp now = { .device = UINT64_MAX };
	struct stat st;
	bool differs;

	if (!stat(path, &st))
		now = (struct rcm_stamp){
			.device = st.st_dev, .inode = st.st_ino, .size = (uint64_t)st.st_size,
			.sec = (uint64_t)st.st_mtim.tv_sec, .nsec = (uint64_t)st.st_mtim.tv_nsec,
		};
	differs = memcmp(stamp, &now, sizeof(now));
	*stamp = now;
	return differs;
}
