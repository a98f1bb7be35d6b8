/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel keeps per open umad descriptor: agents, received messages, unanswered requests. */
#pragma once

#include <infiniband/umad.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RCM_SIM_AGENTS = 32 }; /* agents per descriptor, as in the kernel */

/*
 * All calls are safe from any thread. A port is named by its descriptor, an eventfd that is readable
 * while a message waits.
 */

/* Makes a port; returns its descriptor or -errno. */
int rcm_sim_port_open(void);

/* Forgets the port, its messages and requests, and closes the descriptor. -EINVAL: no such port. */
int rcm_sim_port_close(int fd);

/* Returns a new agent id for @mgmt_class; @unsolicited: it also takes requests. -EINVAL, -ENOMEM. */
int rcm_sim_port_register(int fd, uint8_t mgmt_class, bool unsolicited);
int rcm_sim_port_unregister(int fd, int agent);

/* The management class of an agent, or -EINVAL. */
int rcm_sim_port_class(int fd, int agent);

/*
 * Notes a request of one MAD whose answer shall come to @fd, and writes a transaction id of its own
 * into it, since all descriptors of a process share one attachment. -EINVAL, -ENOMEM.
 */
int rcm_sim_port_expect(int fd, int agent, void *umad, int timeout_ms, int retries,
			uint32_t *ret_wire_tid);

/* Takes the request back, when sending it failed. */
void rcm_sim_port_forget(uint32_t wire_tid);

/* A MAD came in: it is joined, matched and queued, or dropped as the kernel would. */
void rcm_sim_port_deliver(const struct ib_user_mad *umad, size_t len);

/* Sends again, or reports as timed out, what has waited too long. @resend must not block. */
void rcm_sim_port_expire(void (*resend)(const void *umad, size_t len));

/* umad_recv() without waiting: the agent id, -EAGAIN, -ENOSPC with *len set to what is needed. */
int rcm_sim_port_take(int fd, void *umad, int *len);

/* From now on so many of the SA's MADs are lost, or met with BUSY. */
void rcm_sim_port_faults(unsigned int lost_percent, unsigned int busy_percent);

/* Whether this request, noted already, meets with such a fault and isn't to be sent. */
bool rcm_sim_port_fault(const struct ib_user_mad *umad);

/* Milliseconds of the monotonic clock. */
int64_t rcm_sim_now_ms(void);
