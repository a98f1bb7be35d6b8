/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of local ports in sysfs. Everything is read afresh: any thread may call, nothing is kept. */
#pragma once

#include "sa/sa.h"

/* How a port reaches its SA: IBTA volume 1, 14.2.5.6 (PortInfo: MasterSMLID, MasterSMSL). */
struct rcm_sa_address {
	uint16_t lid;			/* of the SM; host order */
	uint8_t sl;
	uint16_t pkey_index;		/* of 0xFFFF, else of 0x7FFF, else 0 */
	bool global;			/* the port has no LID to answer to: a GRH is needed */
	struct rcm_gid gid;		/* with a GRH: the SA's well-known GID */
};

/* 0; -ENETDOWN: the port is not active, or knows no SM; -ENODEV: no such port; or there was no means to
 * look. The P_Key index isn't read here. */
int rcm_port_address(const struct rcm_sa_port *port, struct rcm_sa_address *ret_address);

/* The P_Key to speak to the SA with and its index: 0, -ENODEV, or there was no means to look. Costs a read for each
 * P_Key before it. */
int rcm_port_pkey(const char *device, unsigned number, uint16_t *ret_pkey, uint16_t *ret_index);

/* Whether the kernel's umad module is there at all: 0, -ENODEV, or there was no means to look. Asked before libibumad,
 * which prints a warning where it isn't. */
int rcm_port_mad_module(void);
