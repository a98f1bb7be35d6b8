/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of the host that decide what names mean: read by a thread of their own, and again when they change. */
#pragma once

#include "dns/hosts.h"
#include "dns/pick.h"
#include "dns/resolv.h"

/* Which files; tests have others. */
struct rcm_etc_files {
	struct rcm_pick_files pick;
	const char *resolv;
	const char *hosts;
	const char *services;
};
extern const struct rcm_etc_files rcm_etc_system;

/* What a look has found. The receiver takes over what isn't NULL. */
struct rcm_etc_news {
	struct rcm_pick pick;
	bool hosts_beyond_us;			/* only getaddrinfo() itself can honour what is there */
	struct rcm_resolv *resolv;		/* NULL: as before */
	struct rcm_hosts *hosts;		/* NULL: as before */
	bool names_changed;			/* what a host's name means may be another thing now */
	bool services_changed;			/* what a service's name means */
};

/* What is told, on the loop's thread. */
struct rcm_etc_ops {
	/* A look has found this. */
	void (*changed)(void *arg, struct rcm_etc_news *news);

	/* Whoever waited for a look need not any more. 0, or -errno: nothing could be read, now or ever before. */
	void (*settled)(void *arg, int status);
};

struct rcm_etc;

/* 0 or -errno. Reads nothing yet. */
int rcm_etc_open(struct rcm_loop *loop, const struct rcm_etc_files *files, const struct rcm_etc_ops *ops, void *arg,
		 struct rcm_etc **ret_etc);

/*
 * 1: what was read last is what the files say, as far as can be told, or a look takes so long (RCM_LOOK_WAIT_MS) that
 * nobody should wait for it. 0: a look is under way, and settled() will be called. -errno: none can be had. Waits for
 * nothing. Loop's thread.
 */
int rcm_etc_settle(struct rcm_etc *etc);

/* Whether settle() would say 1. Any thread. */
bool rcm_etc_is_settled(struct rcm_etc *etc);

/* NULL: nothing. Neither waits for a thread that reads. */
void rcm_etc_close(struct rcm_etc *etc);
void rcm_etc_abandon(struct rcm_etc *etc);
