/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses between our own steps and the system's getaddrinfo(). */
#include "dns/pick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "dns/environment.h"
#include "dns/lines.h"

static const char blanks[] = RCM_BLANKS;

static void pick_service(const char *service, struct rcm_pick *pick)
{
	enum rcm_pick_step step = !strcmp(service, "files") ? RCM_PICK_FILES :
				  !strcmp(service, "dns") ? RCM_PICK_DNS : RCM_PICK_END;

	if (step == RCM_PICK_END || pick->steps[1] != RCM_PICK_END || pick->steps[0] == step)
		pick->system = true;
	else
		pick->steps[pick->steps[0] != RCM_PICK_END] = step;
}

/*
 * "hosts: files dns". A comment behind it is none for glibc, but more services. A second hosts line would be added by
 * some versions of glibc and ignored by others.
 */
static int pick_nsswitch_line(char *line, void *arg)
{
	struct rcm_pick *pick = arg;
	char *rest, *service;

	line += strspn(line, blanks);
	if (strncmp(line, "hosts", 5))
		return 0;
	line += 5;
	line += strspn(line, blanks);
	if (*line++ != ':')
		return 0;
	if (pick->hosts_line)
		pick->system = true;
	pick->hosts_line = true;
	for (service = strtok_r(line, blanks, &rest); service; service = strtok_r(NULL, blanks, &rest))
		pick_service(service, pick);
	return 0;
}

static int pick_host_line(char *line, void *arg)
{
	struct rcm_pick *pick = arg;
	char *rest, *word = strtok_r(line, blanks, &rest), *value = strtok_r(NULL, blanks, &rest);

	if (word && value && rcm_ascii_same(word, "multi"))
		pick->multi = rcm_ascii_same(value, "on");
	return 0;
}

int rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *ret_pick)
{
	struct rcm_pick pick = { .policy = rcm_policy_default };
	int ret = rcm_lines_each(files->nsswitch, pick_nsswitch_line, &pick);

	if (!ret)
		ret = rcm_policy_read(files->gai, &pick.policy);
	if (ret == -EFBIG) {
		pick.system = true;
		ret = 0;
	}
	if (!ret)
		ret = rcm_lines_each(files->host, pick_host_line, &pick);
	if (ret)
		return ret;
	if (!pick.hosts_line || rcm_environment_get()->aliases)
		pick.system = true;
	*ret_pick = pick;
	return 0;
}
