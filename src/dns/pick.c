/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses between our own steps and the system's getaddrinfo(). */
#include "dns/pick.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

const struct rcm_pick_files rcm_pick_etc = {
	.nsswitch = "/etc/nsswitch.conf",
	.gai = "/etc/gai.conf",
	.host = "/etc/host.conf",
};

static const char blanks[] = " \t\r\n\v\f";

/* Calls each line that is not blank and not a comment, without leading blanks. A missing file has no lines. */
static int each_line(const char *path, void (*take)(char *line, struct rcm_pick *pick), struct rcm_pick *pick)
{
	FILE *file = fopen(path, "re");
	char *text = NULL, *line;
	size_t size = 0;
	int err = 0;

	if (!file)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	errno = 0;
	while (getline(&text, &size, file) >= 0) {
		line = text + strspn(text, blanks);
		if (*line && *line != '#')
			take(line, pick);
		errno = 0;
	}
	/* A directory stays one: it is as if there were no file. */
	if (!feof(file) && errno != EISDIR)
		err = rcm_errno();
	free(text);
	fclose(file);
	return err;
}

static void take_service(const char *service, struct rcm_pick *pick)
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
static void take_nsswitch(char *line, struct rcm_pick *pick)
{
	char *rest, *service;

	if (strncmp(line, "hosts", 5))
		return;
	line += 5;
	line += strspn(line, blanks);
	if (*line++ != ':')
		return;
	if (pick->hosts_line)
		pick->system = true;
	pick->hosts_line = true;
	for (service = strtok_r(line, blanks, &rest); service; service = strtok_r(NULL, blanks, &rest))
		take_service(service, pick);
}

static void take_gai(char *line, struct rcm_pick *pick)
{
	(void)line;
	pick->system = true;
}

static void take_host(char *line, struct rcm_pick *pick)
{
	char *rest, *word = strtok_r(line, blanks, &rest), *value = strtok_r(NULL, blanks, &rest);

	if (word && value && !strcasecmp(word, "multi"))
		pick->multi = !strcasecmp(value, "on");
}

int rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *ret_pick)
{
	struct rcm_pick pick = { 0 };
	int err = each_line(files->nsswitch, take_nsswitch, &pick);

	if (!err)
		err = each_line(files->gai, take_gai, &pick);
	if (!err)
		err = each_line(files->host, take_host, &pick);
	if (err)
		return err;
	if (!pick.hosts_line || secure_getenv("HOSTALIASES"))
		pick.system = true;
	*ret_pick = pick;
	return 0;
}
