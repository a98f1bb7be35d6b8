/* SPDX-License-Identifier: BSD-2-Clause */
/* An open port to send and receive SA MADs through, as an ops table: libibumad's, or a test's script. */
#pragma once

#include "sa/port.h"

struct rcm_umad;			/* an open port */

/* Agents that a port is opened with: the kernel may limit how much each has under way. */
enum { RCM_UMAD_AGENTS = 4 };

/* What was received; the bytes are valid until the next receive or close. */
struct rcm_umad_message {
	bool timed_out;			/* the kernel gave a request back: mad has its header (24 bytes) alone */
	const uint8_t *mad;
	size_t len;
};

struct rcm_umad_ops {
	const char *name;

	/* The port that has this GID: 0 or -ENODEV. */
	int (*find)(const struct rcm_gid *gid, struct rcm_sa_port *ret_port);

	/* 0; -EACCES, -EPERM, -ENODEV, -ENOMEM, other -errno. */
	int (*open)(const struct rcm_sa_port *port, struct rcm_umad **ret_umad);

	/* For polling only. Readable while a message waits; broken or hung up when the device has gone. */
	int (*fd)(const struct rcm_umad *umad);

	/* How the SA is reached now, read afresh: 0, -ENETDOWN, -ENODEV. The P_Key's index is read only where all is in
	 * doubt, as after silence: it may take a read for each P_Key of the port. */
	int (*address)(struct rcm_umad *umad, bool in_doubt, struct rcm_sa_address *ret_address);

	/* Sends one MAD by an agent, or queues it in the kernel; never blocks. The answer, or the news that none came
	 * within timeout_ms, is received later, though not if the kernel failed in silence. 0 or -errno. */
	int (*send)(struct rcm_umad *umad, unsigned agent, const struct rcm_sa_address *to, const uint8_t mad[256],
		    unsigned timeout_ms);

	/* 0; -EAGAIN: nothing there; -EMSGSIZE: larger than RCM_SA_ANSWER_MAX, it can't be read past, and
	 * message has its first bytes; any other -errno: the port is of no more use. Never blocks. */
	int (*recv)(struct rcm_umad *umad, struct rcm_umad_message *ret_message);

	/* umad NULL: nothing. */
	void (*close)(struct rcm_umad *umad);
};

extern const struct rcm_umad_ops rcm_umad_device;
