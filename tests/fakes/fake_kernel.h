/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The small kernel of the fake: files, ids, events, and what it does with a command. A caller at a time, who holds the
 * lock of fake_ucma.c.
 */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <sys/queue.h>

#include "addr/sockaddr.h"
#include "uapi/ucma_abi.h"

enum { RCM_FAKE_BODY_MAX = 512 };

struct fake_file;

/* A CM ID, or a membership of a multicast group. */
struct fake_id {
	LIST_ENTRY(fake_id) link;
	uint32_t handle;
	uint32_t member;		/* of a membership: the id that it goes with */
	uint64_t uid;
	struct fake_file *file;
	uint32_t events_read;
	struct sockaddr_ib bound;	/* of BIND, as AF_IB; sib_family 0: not bound so */
	uint16_t pkey;			/* host order */
};

/* Before the first file, and after the last: what failed first, or NULL. */
void rcm_fake_kernel_reset(void);
const char *rcm_fake_kernel_end(void);

/* As rcm_fake_ucma_bind(). */
void rcm_fake_kernel_bind(uint64_t node_guid, uint32_t index, const char *src, const char *dst);

/* A new file's descriptor, or -errno; the file that a descriptor stands for, whatever number it has by now, NULL: it is
 * none of these; its end. */
int rcm_fake_kernel_open(int flags);
struct fake_file *rcm_fake_kernel_file(int fd);
void rcm_fake_kernel_close(int fd);

/* Ids: a new one, of which last_handle tells; that of a handle, or NULL; how many there are. */
struct fake_id *rcm_fake_kernel_add(uint32_t handle, uint64_t uid, struct fake_file *file);
struct fake_id *rcm_fake_kernel_id(uint32_t handle);
unsigned rcm_fake_kernel_count(void);
extern uint32_t rcm_fake_kernel_last_handle;

/* An event to be read from a file, counted on the id of that handle. */
void rcm_fake_kernel_queue(struct fake_file *file, uint32_t counted_on, const struct rdma_ucm_event_resp *resp);

/* GET_EVENT; any other command, as a small kernel does it; ACCEPT, which tells an id's uid, however it is answered. */
int rcm_fake_kernel_get_event(struct fake_file *file, const uint8_t *body, uint16_t room);
int rcm_fake_kernel_serve(struct fake_file *file, uint32_t command, const uint8_t *body, uint16_t room);
void rcm_fake_kernel_follow_accept(uint32_t command, const uint8_t *body);
