/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of a name server, RFC 1035 section 4, without compression. */
#include "dns_message.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct dns_message *message, const void *bytes, size_t len)
{
	if (len > sizeof(message->bytes) - message->len) {
		fprintf(stderr, "a message has no room for %zu bytes more\n", len);
		abort();
	}
	memcpy(message->bytes + message->len, bytes, len);
	message->len += len;
}

static void put16(struct dns_message *message, unsigned value)
{
	put(message, &(uint16_t){ htons((uint16_t)value) }, 2);
}

static void put_name(struct dns_message *message, const char *name)
{
	while (*name) {
		size_t len = strcspn(name, ".");

		put(message, &(uint8_t){ (uint8_t)len }, 1);
		put(message, name, len);
		name += len + (name[len] == '.');
	}
	put(message, "", 1);
}

void dns_message_begin(struct dns_message *message, const char *name, int type, int rcode)
{
	message->len = 0;
	put16(message, 0);
	put16(message, 0x8180U | (unsigned)rcode);
	put16(message, 1);
	put16(message, 0);
	put16(message, 0);
	put16(message, 0);
	put_name(message, name);
	put16(message, (unsigned)type);
	put16(message, ns_c_in);
}

void dns_message_add(struct dns_message *message, const char *owner, int type, uint32_t ttl, const char *data)
{
	unsigned count = (unsigned)message->bytes[6] << 8 | message->bytes[7];
	uint8_t address[16];
	size_t at;

	count++;
	message->bytes[6] = (uint8_t)(count >> 8);
	message->bytes[7] = (uint8_t)count;
	put_name(message, owner);
	put16(message, (unsigned)type);
	put16(message, ns_c_in);
	put16(message, ttl >> 16);
	put16(message, ttl & 0xffff);
	at = message->len;
	put16(message, 0);
	if (type == ns_t_a && inet_pton(AF_INET, data, address) == 1)
		put(message, address, 4);
	else if (type == ns_t_aaaa && inet_pton(AF_INET6, data, address) == 1)
		put(message, address, 16);
	else
		put_name(message, data);
	message->bytes[at] = (uint8_t)((message->len - at - 2) >> 8);
	message->bytes[at + 1] = (uint8_t)(message->len - at - 2);
}

void dns_message_add_raw(struct dns_message *message, int section, const void *record, size_t len)
{
	message->bytes[5 + 2 * section]++;
	put(message, record, len);
}
