/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks one name server directly, to see whether it answers at all. */
#pragma once

#include <stdint.h>

#include "host.h"

/*
 * Asks for the root's name servers by UDP, twice within timeout_ms where no answer comes. Returns the code of its
 * answer (RFC 1035 4.1.1), or -ETIMEDOUT, or -errno such as -ECONNREFUSED; *ret_us: how long it took.
 */
int cli_nameserver_ask(const struct cli_nameserver *server, int timeout_ms, int64_t *ret_us);

/* The same in words. */
void cli_nameserver_finding(const struct cli_nameserver *server, int timeout_ms, struct cli_finding *ret_finding);
