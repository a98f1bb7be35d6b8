/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts that are numbers: of names a port, of the SA a service id. Pure. */
#pragma once

#include <stdint.h>

/* Reads a service in C notation (decimal, 0x, 0) as a service id. 1: a number, 0: a name, -EINVAL: a number beyond 64
 * bits. */
int rcm_service_id(const char *service, uint64_t *ret_id);

/* Reads "7471" as a port, host order, as strtoul() does: 1 a number that is a port, 0 no number, -ENOENT a number that
 * is no port. */
int rcm_service_number(const char *service, uint16_t *ret_port);
