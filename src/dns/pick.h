/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from nsswitch.conf(5) and its like whether we can answer as getaddrinfo() would, and in which steps. Pure but
 * for reading the files. */
#pragma once

#include "dns/policy.h"

enum rcm_pick_step { RCM_PICK_END, RCM_PICK_FILES, RCM_PICK_DNS };
enum { RCM_PICK_STEPS = 2 };

struct rcm_pick {
	bool system;				/* only getaddrinfo() itself knows how */
	enum rcm_pick_step steps[RCM_PICK_STEPS];
	bool hosts_line;			/* there is one; it may be empty */
	bool multi;				/* host.conf(5): all lines of the hosts file count */
	struct rcm_policy policy;		/* gai.conf(5) */
};

/* The files that decide. */
struct rcm_pick_files {
	const char *nsswitch;
	const char *gai;
	const char *host;
};

/*
 * system is set where the hosts line is missing or has anything but one "files" and one "dns" at most (other modules,
 * actions in brackets), where gai.conf has more lines than there is room for, and where HOSTALIASES is set. An empty
 * hosts line is ours: getaddrinfo() of glibc 2.36 reads behind an empty list. 0; or -EMFILE, -ENFILE, -ENOMEM, -EIO or
 * what else a file that is there could not be read for. One that isn't there, or may not be read, is an empty one.
 */
int rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *ret_pick);
