/* SPDX-License-Identifier: BSD-2-Clause */
/* A umad whose kernel and SA are the test: it sees what was sent, and says what comes back. */
#pragma once

#include "sa/umad.h"

extern const struct rcm_umad_ops rcm_fake_umad_ops;

/* What the next calls return; reset to a port that works, its SM at LID 1. */
struct rcm_fake_umad {
	int open_ret, address_ret, send_ret, recv_ret;
	uint16_t sm_lid;
	unsigned opens, open_now, recvs, looks, doubts;
	unsigned infos;			/* questions for its ClassPortInfo: answered at once, and not among those sent */
	bool infos_lost;		/* they are not answered */
	bool infos_none;		/* there are no records of it */
	uint8_t response_time;		/* what that says; 0: there is none */
	const char *device;		/* the name that ports are found by */
	char opened[20];		/* the name of the last one opened */
};
extern struct rcm_fake_umad rcm_fake_umad;

/* One MAD that was sent. */
struct rcm_fake_sent {
	struct rcm_umad *umad;
	struct rcm_sa_address to;
	unsigned agent, timeout_ms;
	uint8_t mad[256];
};

void rcm_fake_umad_start(void);

/* Fails the test where a port is still open, something sent was not looked at, or something to receive not read. */
void rcm_fake_umad_finish(void);

/* The oldest MAD sent and not yet looked at; fails the test where there is none. */
struct rcm_fake_sent rcm_fake_umad_sent(void);

/* How many there are. */
unsigned rcm_fake_umad_unseen(void);

/* What is received next: an answer with this status and table; raw bytes; the kernel's news that none came. */
void rcm_fake_umad_answer(const struct rcm_fake_sent *sent, uint16_t status, unsigned record_size,
			  const void *records, size_t len);
void rcm_fake_umad_bytes(const struct rcm_fake_sent *sent, const void *mad, size_t len);
void rcm_fake_umad_timeout(const struct rcm_fake_sent *sent);

/* Writes a ServiceRecord. */
void rcm_fake_record(uint64_t id, const char *name, uint8_t ret_record[176]);
