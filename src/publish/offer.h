/* SPDX-License-Identifier: BSD-2-Clause */
/* What is published at the SA, and how that goes. */
#pragma once

#include "sa/sa.h"

/* A service as its publisher gives it. */
struct rcm_service_offer {
	struct rcm_gid port;		/* GID that the service is offered at */
	uint64_t id;			/* host order */
	char name[64];			/* zero-padded; empty: none */
	uint16_t pkey;			/* host order; 0: of the default partition, as the port is a member of it */
	uint32_t lease_s;
	uint8_t data[64];
};

/* What the SA knows a record by: IBTA 15.2.5.14. */
struct rcm_service_place {
	uint64_t id;
	struct rcm_gid gid;
	uint16_t pkey;
};

/* A port as a look found it. */
struct rcm_publish_port {
	struct rcm_gid gid;		/* that was asked for, or what is in its place: a prefix may change */
	bool active;
	uint16_t lid, sm_lid;
	uint16_t pkey;			/* of the default partition, else its first; 0: none */
	unsigned pkeys;			/* a hash of its P_Key table */
};

/* Valid during the call only. */
struct rcm_service_outcome {
	int status;			/* 0: the SA has the record; -errno: why it hasn't */
	const char *text;		/* in words */
};
