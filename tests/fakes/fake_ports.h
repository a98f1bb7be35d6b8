/* SPDX-License-Identifier: BSD-2-Clause */
/* Local umad ports as a test wants them, in the place of sa/port.c. */
#pragma once

#include "sa/sa.h"

enum { RCM_FAKE_PORTS_MAX = 4 };

/* Takes all ports away. */
void rcm_fake_ports_clear(void);

/* Adds one with GID fe80::n; usable: what rcm_sa_umad_usable() says of it. */
void rcm_fake_ports_add(uint8_t n, bool infiniband, int usable);

/* What looking for ports says from now on: as many as there are (0), or this -errno. */
void rcm_fake_ports_fail(int error);
