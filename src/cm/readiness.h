/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a channel's descriptor readable: the kernel's descriptor, and a switch for events of the library's own. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/*
 * An epoll descriptor over due_fd, an eventfd that is always up and that epoll looks at exactly while it is shown, and
 * the kernel's descriptor. None of it has a lock of its own: a caller at a time. Only what is for the child of a fork
 * is a cancellation point.
 */
struct rcm_readiness {
	int due_fd;
	unsigned doubts;		/* of rcm_fds_doubts(), after which it was proven to be there still */
	bool shown;
};

#define RCM_READINESS_CLOSED { .due_fd = -1 }

/* Makes the epoll descriptor, over kernel_fd too unless that is -1. 0; -EMFILE, -ENFILE, -ENOMEM: there is none. */
int rcm_readiness_open(struct rcm_readiness *readiness, int kernel_fd, int *ret_fd);

/*
 * fd, so far the kernel's descriptor itself, becomes the epoll descriptor over it, with its O_NONBLOCK; the kernel's
 * gets O_NONBLOCK and another number, which *kernel_fd has before it stops being fd. 0, or as above: all is as it was.
 * Who is in poll(2) on fd at that moment, or has it in an epoll, goes on seeing the kernel's events alone.
 */
int rcm_readiness_cover(struct rcm_readiness *readiness, int fd, atomic_int *kernel_fd);

/* Gives up the switch; fd itself is the caller's to close. */
void rcm_readiness_close(struct rcm_readiness *readiness);

/* Readable from now on, unless the program has closed the descriptors, and the library found that: then numbers may be
 * the program's, and neither this nor the next touches them any more. Wakes whoever watches, also for edges alone. */
void rcm_readiness_show(struct rcm_readiness *readiness, int fd);

/* Readable for the kernel's events alone. True: it has one. */
bool rcm_readiness_hide(struct rcm_readiness *readiness, int fd);

/* Looks at the kernel's descriptor anew, which became readable without waking anybody. */
void rcm_readiness_look_again(int fd, int kernel_fd);

/*
 * In the child of a fork. Whether fd still is the epoll descriptor that was made for readiness, which has to lie where
 * it lay then: the number may be another file's by now. Asks /proc, without which the answer is no. The caller holds
 * cancellation off, as in the next.
 */
bool rcm_readiness_knows(const struct rcm_readiness *readiness, int fd);

/* Puts a new one, not shown, in its place, with its O_NONBLOCK and the same number (*fd -1: with a new one): what the
 * parent has isn't touched. 0; -EMFILE, -ENFILE, -ENOMEM: all is as it was. */
int rcm_readiness_renew(struct rcm_readiness *readiness, int kernel_fd, int *fd);
