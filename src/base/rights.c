/* SPDX-License-Identifier: BSD-2-Clause */
/* Users and groups of a thread. */
#include "base/rights.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* Of two calls the one whose numbers have 32 bits. The C library's functions change those of all threads. */
#ifdef SYS_setresuid32
enum { SET_UIDS = SYS_setresuid32, SET_GIDS = SYS_setresgid32, SET_GROUPS = SYS_setgroups32,
       SET_FS_UID = SYS_setfsuid32, SET_FS_GID = SYS_setfsgid32 };
#else
enum { SET_UIDS = SYS_setresuid, SET_GIDS = SYS_setresgid, SET_GROUPS = SYS_setgroups,
       SET_FS_UID = SYS_setfsuid, SET_FS_GID = SYS_setfsgid };
#endif

/* In the order of /proc/PID/status; FS is for files. */
enum { REAL, EFFECTIVE, SAVED, FS, KINDS };

enum { GROUPS_MAX = 65536 };	/* the kernel's limit */

struct rights {
	unsigned uids[KINDS], gids[KINDS];
	size_t groups_count;
	gid_t *groups;
};

static bool rights_read_four(const char *text, unsigned four[KINDS])
{
	return sscanf(text, "%u %u %u %u", &four[0], &four[1], &four[2], &four[3]) == KINDS;
}

static bool rights_read_groups(const char *text, struct rights *rights)
{
	char *end;

	rights->groups = malloc((strlen(text) / 2 + 1) * sizeof(*rights->groups));
	if (!rights->groups)
		return false;
	for (;; text = end) {
		unsigned long group = strtoul(text, &end, 10);

		if (end == text || rights->groups_count == GROUPS_MAX)
			return true;
		rights->groups[rights->groups_count++] = (gid_t)group;
	}
}

/* What a line has behind a name at its begin; NULL: it has another. */
static const char *rights_after(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncmp(line, name, len) ? NULL : line + len;
}

static bool rights_read(const char *path, struct rights *rights)
{
	FILE *file = fopen(path, "re");
	bool uids = false, gids = false, groups = false;
	const char *text;
	char *line = NULL;
	size_t size = 0;

	*rights = (struct rights){ .groups = NULL };
	while (file && !groups && getline(&line, &size, file) > 0) {
		if ((text = rights_after(line, "Uid:")))
			uids = rights_read_four(text, rights->uids);
		else if ((text = rights_after(line, "Gid:")))
			gids = rights_read_four(text, rights->gids);
		else if ((text = rights_after(line, "Groups:")))
			groups = rights_read_groups(text, rights);
	}
	free(line);
	if (file)
		fclose(file);
	return uids && gids && groups;
}

static bool rights_are_same(const struct rights *a, const struct rights *b)
{
	return !memcmp(a->uids, b->uids, sizeof(a->uids)) && !memcmp(a->gids, b->gids, sizeof(a->gids)) &&
	       a->groups_count == b->groups_count &&
	       (!a->groups_count || !memcmp(a->groups, b->groups, a->groups_count * sizeof(*a->groups)));
}

static void rights_set_uids(const struct rights *rights)
{
	syscall(SET_UIDS, rights->uids[REAL], rights->uids[EFFECTIVE], rights->uids[SAVED]);
	if (rights->uids[FS] != rights->uids[EFFECTIVE])
		syscall(SET_FS_UID, rights->uids[FS]);
}

static void rights_set_gids(const struct rights *rights)
{
	syscall(SET_GROUPS, rights->groups_count, rights->groups);
	syscall(SET_GIDS, rights->gids[REAL], rights->gids[EFFECTIVE], rights->gids[SAVED]);
	if (rights->gids[FS] != rights->gids[EFFECTIVE])
		syscall(SET_FS_GID, rights->gids[FS]);
}

/* Root may set groups: who becomes it does so first, who ceases to be it last. */
static void rights_set(const struct rights *rights)
{
	bool root = rights->uids[EFFECTIVE] == 0;

	if (root)
		rights_set_uids(rights);
	rights_set_gids(rights);
	if (!root)
		rights_set_uids(rights);
}

static void rights_done(struct rights *rights)
{
	free(rights->groups);
}

void rcm_rights_take(void)
{
	struct rights first, own, now;

	if (!rights_read("/proc/self/status", &first))
		goto out_first;
	if (!rights_read("/proc/thread-self/status", &own) || rights_are_same(&first, &own))
		goto out_own;
	rights_set(&first);
	if (!rights_read("/proc/thread-self/status", &now) || !rights_are_same(&first, &now))
		rcm_error("a thread of the library's keeps the user or groups of who started it");
	rights_done(&now);
out_own:
	rights_done(&own);
out_first:
	rights_done(&first);
}
