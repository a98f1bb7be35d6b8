/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving an id from one channel to another, in the kernel and with its undelivered events. */
#pragma once

struct rcm_channel;
struct rcm_id;

/*
 * Moves an id; channel NULL: to one of its own, as that of a synchronous id. Then waits until what was taken from
 * the old one is acked, and for another migration to be through before. 0 or -errno, nothing moved: -EINVAL where it is
 * being destroyed, -ENODEV where the new one has no kernel side, what MIGRATE_ID said.
 */
int rcm_id_migrate(struct rcm_id *id, struct rcm_channel *channel);
