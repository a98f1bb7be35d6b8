/* SPDX-License-Identifier: BSD-2-Clause */
/* The removal of one service record from the SA, whosever it is. On the engine's thread. */
#pragma once

#include "resolve/flight.h"

struct rcm_removal;

/* 0, and the flight will land, with an answer of no results where the record is gone; or -errno. */
int rcm_removal_start(struct rcm_flight *flight, const struct rcm_request *request);

/* Ends it and frees it; the flight won't land. NULL: nothing. */
void rcm_removal_cancel(struct rcm_removal *removal);

/* Frees it where its back end is gone. NULL: nothing. */
void rcm_removal_free(struct rcm_removal *removal);
