/* SPDX-License-Identifier: BSD-2-Clause */
/* What is told of name servers and their questions, see base/tell.h. Nothing is done where nobody wants to know. */
#pragma once

#include "dns/eai.h"
#include "dns/message.h"

/* That resolv.conf names it. */
void rcm_told_server(const union rcm_dns_address *server);

/* tries: how many servers were asked before. */
void rcm_told_question(const struct rcm_message_question *question, const union rcm_dns_address *server, bool by_tcp,
		       unsigned tries);

/* answer NULL: there is none. */
void rcm_told_answer(const struct rcm_message_question *question, const union rcm_dns_address *server,
		     enum rcm_dns_verdict verdict, const struct rcm_message_answer *answer);
