/* SPDX-License-Identifier: BSD-2-Clause */
/* Enhanced connection establishment: options of a device's maker that REQ and REP carry. */
#pragma once

#include <infiniband/verbs.h>

#include "ucma/decode.h"

struct rcm_id;

/* For an id without a QP: what is sent, and what the peer sent. 0; -EINVAL where it has a QP (set, get), or without a
 * vendor, or with a mask (set). */
int rcm_ece_set_local(struct rcm_id *id, const struct ibv_ece *ece);
int rcm_ece_get_remote(struct rcm_id *id, struct ibv_ece *ret_ece);

/* What a REQ offers: the QP's, or without one what was set. */
int rcm_ece_to_offer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece);

/* What the REP says: the REQ's vendor, so that a device of another maker takes it, with what of its options the QP uses
 * now, or without a QP was set; zeros where the REQ had none. */
int rcm_ece_to_answer(struct rcm_id *id, struct rcm_ucma_ece *ret_ece);

/* Keeps what the peer sent. */
void rcm_ece_keep_remote(struct rcm_id *id, struct rcm_ucma_ece ece);

/*
 * Before the QP's move to RTR: it gets what the peer's REQ, or REP, has of its own vendor's options, or none of them
 * where the peer is another's or has no ECE. 0; -EINVAL: the REP is of another vendor than the REQ was; what the verbs
 * said.
 */
int rcm_ece_use_request(struct rcm_id *id);
int rcm_ece_use_response(struct rcm_id *id);
