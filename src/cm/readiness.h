/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: the kernel's descriptor, and a switch for events of the library's own. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/fds.h"

/*
 * An epoll descriptor over due_fd, which is always ready and which epoll looks at exactly while it is shown, and the
 * kernel's descriptor. One of the two is the witness, whose file nobody else has in an epoll of theirs: the kernel's,
 * as the device's, which another channel of the library's may have by that number later; without it due_fd, which is a
 * socket then, dearer than an eventfd. None of it has a lock of its own: a caller at a time. No cancellation points.
 */
struct rcm_readiness {
	int due_fd;
	int witness_fd;
	struct rcm_file witness;	/* what that was */
	unsigned claim;			/* of a device's number, as other channels have that file, too */
	unsigned doubts;		/* of rcm_fds_doubts(), after which it was proven to be there still */
	bool shown;
};

#define RCM_READINESS_CLOSED { .due_fd = -1, .witness_fd = -1 }

/* Makes the epoll descriptor, over kernel_fd too unless that is -1. 0; -EMFILE, -ENFILE, -ENOMEM: there is none. */
int rcm_readiness_open(struct rcm_readiness *readiness, int kernel_fd, int *ret_fd);

/*
 * fd, so far the kernel's descriptor itself, becomes the epoll descriptor over it, with its O_NONBLOCK; the kernel's
 * gets O_NONBLOCK and another number, which *kernel_fd has before it stops being fd. 0, or as above: all is as it was.
 * Who is in poll(2) on fd at that moment, or has it in an epoll, goes on seeing the kernel's events alone.
 */
int rcm_readiness_cover(struct rcm_readiness *readiness, int fd, atomic_int *kernel_fd);

/* Gives up the switch. True: fd is its epoll descriptor, and the caller's to close; any other isn't. */
bool rcm_readiness_close(struct rcm_readiness *readiness, int fd);

/* Whether fd, known to be the epoll descriptor, is over kernel_fd: otherwise that number is another file's. */
bool rcm_readiness_is_over(int fd, int kernel_fd);

/* Readable from now on, unless the program has closed the descriptors, and the library found that: then numbers may be
 * the program's, and neither this nor the next two touch them any more. Wakes whoever watches, also for edges alone. */
void rcm_readiness_show(struct rcm_readiness *readiness, int fd);

/* The next of these proves the descriptors first, whether anybody found them closed or not: for a call that a program
 * may well make after it closed them. */
void rcm_readiness_doubt(struct rcm_readiness *readiness);

/* Readable for the kernel's events alone. True: it has one. */
bool rcm_readiness_hide(struct rcm_readiness *readiness, int fd);

/* Looks at the kernel's descriptor anew, which became readable without waking anybody. */
void rcm_readiness_look_again(struct rcm_readiness *readiness, int fd, int kernel_fd);

/* Whether fd still is the epoll descriptor that was made for readiness: the number may be another file's by now. Exact,
 * but where a filter of system calls allows no sockets. For the child of a fork, as the next. */
bool rcm_readiness_knows(const struct rcm_readiness *readiness, int fd);

/* Puts a new one, not shown, in its place, with its O_NONBLOCK and the same number (*fd -1: with a new one): what the
 * parent has isn't touched. 0; -EMFILE, -ENFILE, -ENOMEM: all is as it was. */
int rcm_readiness_renew(struct rcm_readiness *readiness, int kernel_fd, int *fd);
