/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts: of names a port, of the SA a service id. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads a service in C notation (decimal, 0x, 0) as a service id. 1: a number, 0: a name, -EINVAL: a number beyond 64
 * bits. */
int rcm_service_id(const char *service, uint64_t *ret_id);

/* Reads "7471" as a port, host order: 1 a number that is a port, 0 no number, -ENOENT a number that is no port. */
int rcm_service_number(const char *service, uint16_t *ret_port);

/* Whether service names are asked of local files and nothing else, by nsswitch.conf's services line or without one (it
 * is looked at every 100 ms at most). Resolver thread only. */
bool rcm_service_is_local(void);

/* The same for a file of that form. */
bool rcm_service_is_local_in(const char *nsswitch);

/*
 * Looks a service name up in the services file (kept in memory, read again when it changes). udp: which protocol.
 * 0 or -ENOENT, -errno. Reads a local file: resolver thread only.
 */
int rcm_service_port(const char *service, bool udp, uint16_t *ret_port);
