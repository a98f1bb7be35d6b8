/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a name server's answers, octet by octet, for tests that read them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dns_message {
	size_t len;
	uint8_t bytes[65535];
};

/* Begins an answer to a question about name: header (id 0, QR, RA) and question. type as in ns_type. */
void dns_message_begin(struct dns_message *message, const char *name, int type, int rcode);

/* Adds a record to the answer section; owner as text. data: an address as text, or the target of a CNAME. */
void dns_message_add(struct dns_message *message, const char *owner, int type, uint32_t ttl, const char *data);

/* Adds a record as octets to a section: 1 answer, 2 authority, 3 additional. */
void dns_message_add_raw(struct dns_message *message, int section, const void *record, size_t len);
