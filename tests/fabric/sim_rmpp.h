/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts long SA messages into RMPP segments, and joins them again (pure). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RCM_SIM_MAD = 256,
	RCM_SIM_SA_CLASS = 0x03,
	RCM_SIM_SA_HEADER = 56,	 /* MAD, RMPP and SA headers: IBTA 1.7, 15.2.1.1 */
	RCM_SIM_SEGMENT = 200,	 /* data in a segment: the rest of the MAD */
	RCM_SIM_RESPONSE = 0x80, /* the response bit of the method */
};

/* A message under assembly: the first segment's headers, then the data of every segment. */
struct rcm_sim_join {
	uint8_t *mad;
	size_t len, room;
	uint32_t segments;
};

/* Whether @mad is one segment of a multi-segment message. */
bool rcm_sim_is_segment(const uint8_t *mad);

/* Whether a message ends with it: a segment that is the last, or no segment at all. */
bool rcm_sim_is_last(const uint8_t *mad);

/* Number of MADs that carry a message of @len bytes, headers included. */
unsigned int rcm_sim_segments(size_t len);

/* Writes segment @n (from 1) of the message @mad of @len bytes to @ret_mad. */
void rcm_sim_cut(const uint8_t *mad, size_t len, unsigned int n, uint8_t ret_mad[RCM_SIM_MAD]);

/*
 * Adds one segment. Returns 1 when the message is complete, 0 when more must come, -EPROTO for a
 * segment out of order, -ENOMEM. The caller frees join->mad.
 */
int rcm_sim_join_add(struct rcm_sim_join *join, const uint8_t *mad);
