/* SPDX-License-Identifier: BSD-2-Clause */
/* Policy tables of RFC 6724. */
#include "dns/policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dns/lines.h"

enum { ADDRESS_BITS = 128, MAPPED_BITS = 96 };
/* Where gai.conf has rows of a kind, but none that matches everything. */
enum { LABEL_OF_OTHERS = 1, PRECEDENCE_OF_OTHERS = 40, SCOPE_OF_OTHERS = 14 };

const struct rcm_policy rcm_policy_default = {
	.labels = { 8, {
		{ { [15] = 1 }, 128, 0 },			/* ::1 */
		{ { [10] = 0xff, 0xff }, 96, 4 },		/* IPv4-mapped */
		{ { 0 }, 96, 3 },				/* IPv4-compatible */
		{ { 0x20, 0x01, 0, 0 }, 32, 7 },		/* Teredo */
		{ { 0x20, 0x02 }, 16, 2 },			/* 6to4 */
		{ { 0xfe, 0xc0 }, 10, 5 },			/* site-local */
		{ { 0xfc }, 7, 6 },				/* unique local */
		{ { 0 }, 0, LABEL_OF_OTHERS },
	} },
	.precedences = { 5, {
		{ { [15] = 1 }, 128, 50 },
		{ { [10] = 0xff, 0xff }, 96, 10 },
		{ { 0 }, 96, 20 },
		{ { 0x20, 0x02 }, 16, 30 },
		{ { 0 }, 0, PRECEDENCE_OF_OTHERS },
	} },
	.scopes = { 3, {
		{ { [10] = 0xff, 0xff, 169, 254 }, 112, 2 },
		{ { [10] = 0xff, 0xff, 127 }, 104, 2 },
		{ { 0 }, 0, SCOPE_OF_OTHERS },
	} },
};

static bool policy_has_prefix(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(address, prefix, bytes))
		return false;
	return !rest || !((address[bytes] ^ prefix[bytes]) >> (8 - rest));
}

static struct in6_addr policy_mapped(const union rcm_dns_address *address)
{
	struct in6_addr in6 = { .s6_addr = { [10] = 0xff, 0xff } };

	if (address->sa.sa_family == AF_INET6)
		return address->in6.sin6_addr;
	memcpy(&in6.s6_addr[12], &address->in.sin_addr, 4);
	return in6;
}

int rcm_policy_find(const struct rcm_policy_table *table, const union rcm_dns_address *address)
{
	struct in6_addr in6 = policy_mapped(address);
	const struct rcm_policy_row *row = table->rows;

	while (!policy_has_prefix(in6.s6_addr, row->prefix, row->bits))
		row++;
	return row->value;
}

/* All digits of a word, or none at all, which is 0. */
static bool policy_number(const char *word, unsigned long most, unsigned long *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoul(word, &end, 10);
	return !*end && !errno && *ret_number <= most;
}

/* "2001:db8::/32"; a whole address without a length. */
static bool policy_read_prefix(char *word, struct rcm_policy_row *row)
{
	char *length = strchr(word, '/');
	unsigned long bits = ADDRESS_BITS;

	if (length)
		*length++ = '\0';
	if (inet_pton(AF_INET6, word, row->prefix) != 1 || (length && !policy_number(length, ADDRESS_BITS, &bits)))
		return false;
	row->bits = (uint8_t)bits;
	return true;
}

/* An IPv4 prefix, in its mapped form or as it is. */
static bool policy_read_prefix4(char *word, struct rcm_policy_row *row)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	char *length = strchr(word, '/');
	unsigned long bits = ADDRESS_BITS - MAPPED_BITS;

	if (strchr(word, ':'))
		return policy_read_prefix(word, row) && row->bits >= MAPPED_BITS &&
		       !memcmp(row->prefix, mapped, sizeof(mapped));
	if (length)
		*length++ = '\0';
	memcpy(row->prefix, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, word, row->prefix + sizeof(mapped)) != 1 ||
	    (length && !policy_number(length, ADDRESS_BITS - MAPPED_BITS, &bits)))
		return false;
	row->bits = (uint8_t)(MAPPED_BITS + bits);
	return true;
}

/* Behind those that are as long. */
static int policy_add(struct rcm_policy_table *table, const struct rcm_policy_row *row)
{
	unsigned at = table->count;

	if (table->count == RCM_POLICY_ROWS)
		return -EFBIG;
	while (at && table->rows[at - 1].bits < row->bits)
		at--;
	memmove(&table->rows[at + 1], &table->rows[at], (table->count - at) * sizeof(*row));
	table->rows[at] = *row;
	table->count++;
	return 0;
}

static int policy_take(char *line, void *arg)
{
	struct rcm_policy *policy = arg;
	char *rest, *kind, *prefix, *value;
	struct rcm_policy_row row;
	struct rcm_policy_table *table;
	unsigned long number;

	line[strcspn(line, "#")] = '\0';
	kind = strtok_r(line, RCM_BLANKS, &rest);
	prefix = strtok_r(NULL, RCM_BLANKS, &rest);
	value = strtok_r(NULL, RCM_BLANKS, &rest);
	if (!kind || !prefix || !policy_number(value ? value : "", INT_MAX, &number))
		return 0;
	row.value = (int)number;
	table = !strcmp(kind, "label") ? &policy->labels : !strcmp(kind, "precedence") ? &policy->precedences :
		!strcmp(kind, "scopev4") ? &policy->scopes : NULL;
	if (!table || !(table == &policy->scopes ? policy_read_prefix4 : policy_read_prefix)(prefix, &row))
		return 0;
	return policy_add(table, &row);
}

static int policy_finish(struct rcm_policy_table *table, const struct rcm_policy_table *built_in)
{
	const struct rcm_policy_row *others = &built_in->rows[built_in->count - 1];

	if (!table->count)
		*table = *built_in;
	return table->rows[table->count - 1].bits ? policy_add(table, others) : 0;
}

int rcm_policy_read(const char *path, struct rcm_policy *ret_policy)
{
	struct rcm_policy policy = { 0 };
	int ret = rcm_lines_each(path, policy_take, &policy);

	if (!ret)
		ret = policy_finish(&policy.labels, &rcm_policy_default.labels);
	if (!ret)
		ret = policy_finish(&policy.precedences, &rcm_policy_default.precedences);
	if (!ret)
		ret = policy_finish(&policy.scopes, &rcm_policy_default.scopes);
	if (!ret)
		*ret_policy = policy;
	return ret;
}
