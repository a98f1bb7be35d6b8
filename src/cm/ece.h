/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment: options of a device's maker that REQ and REP carry. */
#pragma once

#include <infiniband/verbs.h>

#include "ucma/decode.h"

struct rcm_id;

/* For an id without a QP: what is sent, and what the peer sent. 0; -EINVAL where it has a QP (set, get). */
int rcm_ece_set_local(struct rcm_id *id, const struct ibv_ece *ece);
int rcm_ece_get_remote(struct rcm_id *id, struct ibv_ece *ret_ece);

/* What REQ, or REP without a QP, offers: the QP's, or what was set. */
int rcm_ece_to_offer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece);

/* Keeps what the peer sent. */
void rcm_ece_keep_remote(struct rcm_id *id, struct rcm_ucma_ece ece);

/* Gives the peer's options to the QP; before its move to RTR. */
int rcm_ece_apply_remote(struct rcm_id *id);
