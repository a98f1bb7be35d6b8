/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that an id publishes: to the engine, and as events back to the id's channel. */
#pragma once

#include <rdma/rai.h>
#include <stdbool.h>

struct rcm_id;

/*
 * Publishes a service for id: 0, and events follow; or -errno of rai_service_register(), and none does. All is
 * allocated here, so that telling can't fail. Waits for nothing.
 */
int rcm_service_register(struct rcm_id *id, const struct rai_service *service, uint64_t *ret_registration);

/* Ends it without an event, also one that is queued. 0, or -ENOENT. Waits for nothing. */
int rcm_service_unregister(struct rcm_id *id, uint64_t registration);

/* The same with all that id has. */
void rcm_service_end_all(struct rcm_id *id);

/* In the child of a fork, a caller at a time, after rcm_engine_leave_parent(): they are the parent's alone. whole:
 * nobody held the id's lock. */
void rcm_service_forsake_all(struct rcm_id *id, bool whole);
