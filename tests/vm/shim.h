/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test in the same process may ask the shim; weak, so that it sees whether the shim is there. */
#pragma once

#include <infiniband/verbs.h>

/* A QP, as the shim saw it. */
struct shim_qp {
	struct ibv_qp *qp;
	struct ibv_ece device;		/* what its device says of ECE; vendor_id 0: that it has none */
	struct ibv_ece given;		/* what it was given last */
	unsigned times;			/* how often that was */
	unsigned states;		/* bits of the states that it was moved to */
};

const struct shim_qp *shim_qp_of(struct ibv_qp *qp) __attribute__((weak));

/* The type of the SRQ that was made last, and whether it had domain and CQ. */
extern enum ibv_srq_type shim_srq_type __attribute__((weak));
