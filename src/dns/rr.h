/* SPDX-License-Identifier: BSD-2-Clause */
/* One record of a message (RFC 1035 4.1.3, RFC 2782). Pure, safe on any bytes. */
#pragma once

#include "dns/labels.h"

struct rcm_rr {
	size_t owner;			/* where its name is */
	uint16_t type;			/* 0: it is of another class */
	uint32_t ttl;
	size_t data;			/* where its data is */
	uint16_t size;
};

/* Reads the record at *at, and puts *at behind it. False: it can't be read. */
bool rcm_rr_read(const uint8_t *bytes, size_t len, size_t *at, struct rcm_rr *ret_rr);

/* The same of one that was read before: what the pointers of its name point to isn't looked at. */
bool rcm_rr_read_again(const uint8_t *bytes, size_t len, size_t *at, struct rcm_rr *ret_rr);

/* The data of an SRV record. */
struct rcm_rr_srv {
	uint16_t priority, weight, port;
	uint8_t target[RCM_LABELS_MAX];
};

/* Whether the data can be that of a record of its type: A, AAAA or SRV. */
bool rcm_rr_fits(const uint8_t *bytes, size_t len, const struct rcm_rr *rr);

/* Of an SRV record that fits. False: its target can't be read. */
bool rcm_rr_read_srv(const uint8_t *bytes, size_t len, const struct rcm_rr *rr, struct rcm_rr_srv *ret_srv);
