/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to a question for SRV records: as they are kept, and as they are told, where each caller gets an order of its
 * own. Any thread. */
#pragma once

#include "dns/dns.h"
#include "resolve/answer.h"
#include "resolve/engine.h"

/* From what the back end found; the addresses of one record stand together. Never NULL. */
struct rcm_answer *rcm_srv_answer(const struct rcm_dns_answer *from);

/* In an order drawn for this one caller by RFC 2782; of each target first what is best for this host. Takes over a
 * reference and gives one. Not NULL. */
struct rcm_answer *rcm_srv_draw(struct rcm_engine *engine, struct rcm_answer *answer);
