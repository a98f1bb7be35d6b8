/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory that stands for /sys. */
#include "fake_sysfs.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

const char *rcm_fake_sysfs_new(void)
{
	strcpy(root, "/tmp/rai-sysfs-XXXXXX");
	if (!mkdtemp(root))
		abort();
	return root;
}

void rcm_fake_sysfs_add(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	if (!text) {
		mkdir(full, 0755);
		return;
	}
	f = fopen(full, "w");
	if (!f)
		abort();
	fprintf(f, "%s\n", text);
	fclose(f);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void rcm_fake_sysfs_done(void)
{
	if (*root)
		nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
	*root = '\0';
}
