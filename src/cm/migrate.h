/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving an id from one channel to another, in the kernel and with its undelivered events. */
#pragma once

struct rcm_channel;
struct rcm_id;

/*
 * Moves an id; channel NULL: to one of its own, as that of a synchronous id. Waits for acks. 0 or -errno, nothing
 * moved: -ENODEV where the new one has no kernel side, what MIGRATE_ID said.
 */
int rcm_id_migrate(struct rcm_id *id, struct rcm_channel *channel);
