/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One id on a channel, on a host without an rdma_cm device: of its ports 1 to 3 the first can ask the SA, the second is no
 * InfiniBand, and the third can't be opened. The engine is a fake.
 */
#pragma once

#include "cm/id.h"

extern struct rcm_channel *channel;
extern struct rcm_id *id;

/* Set up and torn down around each test; the channel's descriptor doesn't block. A test may destroy the id: then it says NULL. */
int open_id(void **state);
int close_id(void **state);

/* Binds an id to that port's GID, in that partition. */
void bind_id(struct rcm_id *to, uint8_t port, uint16_t pkey);
