/* SPDX-License-Identifier: BSD-2-Clause */
/* One attempt at a question: a kernel's id of its own, the commands that make it ask, and what it was told. */
#pragma once

#include "sa/sa.h"
#include "ucma/ucma.h"

enum { RCM_ATTEMPT_NO_HANDLE = UINT32_MAX };

struct rcm_attempt_question {
	bool by_path;
	union {
		struct rcm_sa_service_query service;
		struct rcm_sa_path_query path;
	};
};

struct rcm_attempt {
	uint64_t uid;			/* which its events have; without a handle it has none */
	uint32_t handle;		/* RCM_ATTEMPT_NO_HANDLE: none */
};

/* 0, and an event with that uid will come; or -errno. */
int rcm_attempt_start(struct rcm_attempt *attempt, struct rcm_ucma *ucma, uint64_t uid,
		      const struct rcm_attempt_question *question);

/* The address was resolved: now its path. 0 or -errno. */
int rcm_attempt_go_on(const struct rcm_attempt *attempt, struct rcm_ucma *ucma);

/* What it was told: 0 and at least one, which the caller frees; -ENODATA: none; other -errno. */
int rcm_attempt_services(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
			 struct rcm_sa_service_record **ret_records, unsigned *ret_count, unsigned *ret_total);
int rcm_attempt_paths(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
		      uint8_t ret_paths[RCM_UCMA_PATHS_MAX][64], unsigned *ret_count);

/* Gives the kernel's id back. */
void rcm_attempt_end(struct rcm_attempt *attempt, struct rcm_ucma *ucma);

/* Of a question: its port, whether that is down, and its deadline. */
const struct rcm_gid *rcm_attempt_port(const struct rcm_attempt_question *q);
bool rcm_attempt_is_down(const struct rcm_attempt_question *q);
uint64_t rcm_attempt_deadline(const struct rcm_attempt_question *q);
