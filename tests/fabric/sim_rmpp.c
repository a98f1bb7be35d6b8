/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts long SA messages into RMPP segments, and joins them again (pure). */
#include "sim_rmpp.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* RMPP header, IBTA 1.7, 13.6.2.1: offsets in the MAD and the flag bits of its third byte. */
enum { VERSION = 24, TYPE = 25, FLAGS = 26, SEGMENT_NO = 28, PAYLOAD_LEN = 32 };
enum { TYPE_DATA = 1, ACTIVE = 1, FIRST = 2, LAST = 4 };

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

bool rcm_sim_is_segment(const uint8_t *mad)
{
	return mad[1] == RCM_SIM_SA_CLASS && (mad[FLAGS] & ACTIVE) && mad[TYPE] == TYPE_DATA;
}

bool rcm_sim_is_last(const uint8_t *mad)
{
	return !rcm_sim_is_segment(mad) || (mad[FLAGS] & LAST);
}

unsigned int rcm_sim_segments(size_t len)
{
	if (len <= RCM_SIM_SA_HEADER + RCM_SIM_SEGMENT)
		return 1;
	return (unsigned int)((len - RCM_SIM_SA_HEADER + RCM_SIM_SEGMENT - 1) / RCM_SIM_SEGMENT);
}

void rcm_sim_cut(const uint8_t *mad, size_t len, unsigned int n, uint8_t ret_mad[RCM_SIM_MAD])
{
	unsigned int total = rcm_sim_segments(len);
	size_t from = RCM_SIM_SA_HEADER + (size_t)(n - 1) * RCM_SIM_SEGMENT;
	size_t size = n < total ? RCM_SIM_SEGMENT : len - from;

	memset(ret_mad, 0, RCM_SIM_MAD);
	memcpy(ret_mad, mad, RCM_SIM_SA_HEADER);
	memcpy(ret_mad + RCM_SIM_SA_HEADER, mad + from, size);
	ret_mad[VERSION] = 1;
	ret_mad[TYPE] = TYPE_DATA;
	ret_mad[FLAGS] = (uint8_t)((mad[FLAGS] & 0xf8) | ACTIVE | (n == 1 ? FIRST : 0) |
				   (n == total ? LAST : 0));
	put32(ret_mad + SEGMENT_NO, n);
	put32(ret_mad + PAYLOAD_LEN, (uint32_t)size);
}

/* Makes room for one more segment, for twice as much each time. */
static int join_grow(struct rcm_sim_join *join)
{
	size_t room = join->room ? 2 * join->room : (size_t)4 * RCM_SIM_MAD;
	uint8_t *grown;

	if (join->len + RCM_SIM_SEGMENT <= join->room)
		return 0;
	grown = realloc(join->mad, room);
	if (!grown)
		return -ENOMEM;
	join->mad = grown;
	join->room = room;
	return 0;
}

int rcm_sim_join_add(struct rcm_sim_join *join, const uint8_t *mad)
{
	size_t size = get32(mad + PAYLOAD_LEN);

	if (get32(mad + SEGMENT_NO) != join->segments + 1 || size > RCM_SIM_SEGMENT)
		return -EPROTO;
	if (!join->segments)
		join->len = RCM_SIM_SA_HEADER;
	if (join_grow(join))
		return -ENOMEM;
	if (!join->segments)
		memcpy(join->mad, mad, RCM_SIM_SA_HEADER);
	memcpy(join->mad + join->len, mad + RCM_SIM_SA_HEADER, size);
	join->len += size;
	join->segments++;
	return (mad[FLAGS] & LAST) ? 1 : 0;
}
