/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device tells of its ports by itself: the asynchronous events of a context that is the library's own, since
 * those of one that the application may have are the application's to read. As an ops table: libibverbs', or a test's.
 */
#pragma once

struct rcm_alerts;			/* such a context */

enum rcm_alert {
	RCM_ALERT_OTHER,		/* of no concern here */
	RCM_ALERT_PORT,			/* a port went up or down; its LID, P_Keys, GIDs or SM are others */
	RCM_ALERT_REREGISTER,		/* the SM wants all that was registered to be registered again */
	RCM_ALERT_GONE,			/* the device failed, or was removed */
};

struct rcm_alerts_ops {
	const char *name;

	/* Opens a context of the device of that name ("mlx5_0"): 0; -ENODEV: not visible to this process; what opening
	 * it said. May take its time. Any thread. */
	int (*open)(const char *device, struct rcm_alerts **ret_alerts);

	/* For polling: readable while there is something to read. */
	int (*fd)(const struct rcm_alerts *alerts);

	/* The next: 0, -EAGAIN, or -errno: the context is of no more use. Never blocks. */
	int (*read)(struct rcm_alerts *alerts, enum rcm_alert *ret_alert);

	/* May take its time. Any thread. NULL: nothing. */
	void (*close)(struct rcm_alerts *alerts);
};

extern const struct rcm_alerts_ops rcm_alerts_verbs;
