/* SPDX-License-Identifier: BSD-2-Clause */
/* The SA's records whatever they are for: listed, and removed, as an id's one resolution. */
#pragma once

#include <rdma/rai.h>

struct rcm_id;

/* 0, and one event follows; or -errno of the public call, and none does. Wait for nothing. */
int rcm_listing_start(struct rcm_id *id, const struct rai_service_filter *filter);
int rcm_listing_remove(struct rcm_id *id, const struct rai_service_record *record);
