/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS messages. */
#include "dns/message.h"

#include <errno.h>
#include <resolv.h>
#include <string.h>

#include "base/bytes.h"

enum {
	FLAG_QR = 0x8000, MASK_OPCODE = 0x7800, FLAG_AA = 0x0400, FLAG_TC = 0x0200, FLAG_RD = 0x0100, FLAG_RA = 0x0080,
	FLAG_AD = 0x0020, MASK_RCODE = 0x000f,
	POINTER = 0xc0,
	LABEL_MAX = 63,
	POINTERS_MAX = RCM_MESSAGE_NAME_MAX / 2,	/* in one name: as many as it can have labels */
	ALIASES_MAX = 32,		/* followed for one name: beyond it is a circle */
	ALIASES_SEEN_MAX = 64,		/* looked at in one answer */
	ENDS_MAX = 4,			/* of aliases, looked at for addresses */
};

size_t rcm_message_name(const char *text, uint8_t name[RCM_MESSAGE_NAME_MAX])
{
	size_t at = 0;

	/* The root. */
	if (!strcmp(text, ".")) {
		name[0] = 0;
		return 1;
	}
	do {
		size_t len = strcspn(text, ".");

		if (!len || len > LABEL_MAX || at + len + 2 > RCM_MESSAGE_NAME_MAX)
			return 0;
		name[at++] = (uint8_t)len;
		memcpy(name + at, text, len);
		at += len;
		text += len + (text[len] == '.');
	} while (*text);
	name[at++] = 0;
	return at;
}

size_t rcm_message_ask(const struct rcm_message_question *question, uint16_t id,
		       uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	struct rcm_writer w = rcm_writer_init(bytes, RCM_MESSAGE_QUESTION_MAX);

	rcm_write_u16(&w, id);
	rcm_write_u16(&w, (uint16_t)(FLAG_RD | (question->trust_ad ? FLAG_AD : 0)));
	rcm_write_u16(&w, 1);
	rcm_write_u32(&w, 0);
	rcm_write_u16(&w, question->edns);
	rcm_write_bytes(&w, question->name, question->name_len);
	rcm_write_u16(&w, question->type);
	rcm_write_u16(&w, ns_c_in);
	if (question->edns) {
		rcm_write_u8(&w, 0);
		rcm_write_u16(&w, ns_t_opt);
		rcm_write_u16(&w, RCM_MESSAGE_EDNS_SIZE);
		rcm_write_zeros(&w, 6);
	}
	return (size_t)(w.at - bytes);
}

/* A name in a message. Pointers go back only, each before all that the name has had so far; so there is an end. It is
 * near: an answer has room for thousands of names, each of which could lead through the whole message. */
struct walk {
	const uint8_t *bytes;
	size_t len;
	size_t at;		/* the next label */
	size_t floor;		/* pointers have to go before this */
	size_t behind;		/* where the name ends in place; 0: not known yet */
	size_t octets;		/* of all labels so far */
	unsigned pointers;
};

static struct walk walk_begin(const uint8_t *bytes, size_t len, size_t at)
{
	return (struct walk){ .bytes = bytes, .len = len, .at = at, .floor = at };
}

/* The length of the next label, which is at *ret_label; 0: the name is over; -1: it can't be read. */
static int walk_label(struct walk *walk, const uint8_t **ret_label)
{
	size_t to;

	while (walk->at < walk->len && (walk->bytes[walk->at] & POINTER) == POINTER) {
		if (walk->at + 2 > walk->len)
			return -1;
		to = (size_t)(walk->bytes[walk->at] & ~POINTER) << 8 | walk->bytes[walk->at + 1];
		if (to >= walk->floor || ++walk->pointers > POINTERS_MAX)
			return -1;
		if (!walk->behind)
			walk->behind = walk->at + 2;
		walk->at = walk->floor = to;
	}
	if (walk->at >= walk->len || walk->bytes[walk->at] > LABEL_MAX ||
	    walk->at + 1 + walk->bytes[walk->at] > walk->len)
		return -1;
	to = walk->bytes[walk->at];
	walk->octets += to + 1;
	if (walk->octets > RCM_MESSAGE_NAME_MAX)
		return -1;
	*ret_label = walk->bytes + walk->at + 1;
	walk->at += to + 1;
	if (!to && !walk->behind)
		walk->behind = walk->at;
	return (int)to;
}

/* Where what follows the name begins; 0: it can't be read. */
static size_t message_skip_name(const uint8_t *bytes, size_t len, size_t at)
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	while ((n = walk_label(&walk, &label)) > 0)
		;
	return n ? 0 : walk.behind;
}

/* The same of a name that was read before: what its pointers point to isn't looked at. */
static size_t message_skip_known_name(const uint8_t *bytes, size_t len, size_t at)
{
	while (at < len && bytes[at] && (bytes[at] & POINTER) != POINTER)
		at += 1U + bytes[at];
	if (at < len)
		at += bytes[at] ? 2 : 1;
	return at < len ? at : 0;
}

static uint8_t message_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 'a' - 'A') : c;
}

/* Names are equal whatever the case of their letters (RFC 4343). */
static bool message_is_name(const uint8_t *bytes, size_t len, size_t at, const uint8_t *name)
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	do {
		n = walk_label(&walk, &label);
		if (n < 0 || *name++ != n)
			return false;
		for (int i = 0; i < n; i++)
			if (message_lower(label[i]) != message_lower(*name++))
				return false;
	} while (n);
	return true;
}

static bool message_copy_name(const uint8_t *bytes, size_t len, size_t at, uint8_t name[RCM_MESSAGE_NAME_MAX])
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	while ((n = walk_label(&walk, &label)) >= 0) {
		*name++ = (uint8_t)n;
		memcpy(name, label, (size_t)n);
		name += n;
		if (!n)
			return true;
	}
	return false;
}

/* As text, with a backslash before each octet that could be taken for something else. */
static void message_print_name(const uint8_t *name, char text[NS_MAXDNAME])
{
	char *at = text, *end = text + NS_MAXDNAME - 5;

	for (unsigned n; (n = *name++) && at < end;) {
		if (at > text)
			*at++ = '.';
		for (; n && at < end; n--, name++) {
			if (*name <= ' ' || *name >= 0x7f || strchr("\\.;\"()@$", *name))
				*at++ = '\\';
			*at++ = (char)*name;
		}
	}
	*at = '\0';
}

struct record {
	size_t owner;
	uint16_t type;
	uint32_t ttl;
	size_t data;
	uint16_t size;
};

/* Reads the record whose owner ends before behind, and puts at behind it. A record of another class counts as one of
 * type 0. */
static bool message_read_owned(const uint8_t *bytes, size_t len, size_t behind, size_t *at, struct record *ret_record)
{
	struct rcm_reader r = rcm_reader_init(bytes + behind, len - behind);
	struct record record = { .owner = *at };
	uint16_t class;

	record.type = rcm_read_u16(&r);
	class = rcm_read_u16(&r);
	record.ttl = rcm_read_u32(&r);
	record.size = rcm_read_u16(&r);
	record.data = (size_t)(r.at - bytes);
	rcm_read_skip(&r, record.size);
	if (!behind || r.short_read)
		return false;
	if (class != ns_c_in && record.type != ns_t_opt)
		record.type = 0;
	/* RFC 2181, section 8. */
	if (record.ttl > INT32_MAX && record.type != ns_t_opt)
		record.ttl = 0;
	*at = (size_t)(r.at - bytes);
	*ret_record = record;
	return true;
}

static bool message_read_record(const uint8_t *bytes, size_t len, size_t *at, struct record *ret_record)
{
	return message_read_owned(bytes, len, message_skip_name(bytes, len, *at), at, ret_record);
}

static bool message_read_again(const struct rcm_message_answer *answer, size_t *at, struct record *ret_record)
{
	size_t behind = message_skip_known_name(answer->bytes, answer->len, *at);

	return message_read_owned(answer->bytes, answer->len, behind, at, ret_record);
}

static size_t message_address_size(uint16_t type)
{
	return type == ns_t_a ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

static bool message_is_address(const struct rcm_message_answer *answer, const struct record *record)
{
	return record->type == answer->type && record->size == message_address_size(answer->type) &&
	       message_is_name(answer->bytes, answer->len, record->owner, answer->end);
}

/* Records of other names are none of the question's: RFC 5452, section 6. */
static bool message_count_addresses(struct rcm_message_answer *answer)
{
	size_t at = answer->records;
	struct record record;

	for (size_t i = 0; i < answer->records_count; i++) {
		if (!message_read_again(answer, &at, &record) || !message_is_address(answer, &record))
			continue;
		answer->count++;
		if (record.ttl < answer->ttl)
			answer->ttl = record.ttl;
	}
	return answer->count;
}

struct alias {
	size_t owner, target;
	uint32_t ttl;
	bool followed;
};

/* Those of an answer, found in one pass. */
struct aliases {
	unsigned count, depth, followed, ends;
	struct alias seen[ALIASES_SEEN_MAX];
	struct alias *path[ALIASES_MAX];	/* from the name asked for to the name looked at */
};

static void aliases_see(struct aliases *aliases, const struct record *record)
{
	if (record->type == ns_t_cname && aliases->count < ALIASES_SEEN_MAX)
		aliases->seen[aliases->count++] = (struct alias){
			.owner = record->owner, .target = record->data, .ttl = record->ttl,
		};
}

/* From the name looked at to one that it is an alias of; false: there is none, or none that wasn't followed. */
static bool aliases_step(struct aliases *aliases, struct rcm_message_answer *answer)
{
	for (unsigned i = 0; i < aliases->count && aliases->followed < ALIASES_MAX; i++) {
		struct alias *alias = &aliases->seen[i];

		if (alias->followed || !message_is_name(answer->bytes, answer->len, alias->owner, answer->end))
			continue;
		alias->followed = true;
		aliases->followed++;
		aliases->path[aliases->depth++] = alias;
		return message_copy_name(answer->bytes, answer->len, alias->target, answer->end);
	}
	return false;
}

static void aliases_step_back(struct aliases *aliases, const struct rcm_message_question *question,
			      struct rcm_message_answer *answer)
{
	if (--aliases->depth)
		message_copy_name(answer->bytes, answer->len, aliases->path[aliases->depth - 1]->target, answer->end);
	else
		memcpy(answer->end, question->name, question->name_len);
}

static void aliases_take_path(const struct aliases *aliases, struct rcm_message_answer *answer)
{
	uint8_t name[RCM_MESSAGE_NAME_MAX];
	char text[NS_MAXDNAME];

	for (unsigned i = 0; i < aliases->depth; i++) {
		const struct alias *alias = aliases->path[i];

		if (alias->ttl < answer->ttl)
			answer->ttl = alias->ttl;
		message_copy_name(answer->bytes, answer->len, alias->target, name);
		message_print_name(name, text);
		if (res_hnok(text))
			strcpy(answer->canonname, text);
	}
}

/* From the name asked for to the end of its aliases; a circle ends somewhere, where no address is. A name may be an
 * alias of several: then the first end with addresses counts. */
static void aliases_follow(struct aliases *aliases, const struct rcm_message_question *question,
			   struct rcm_message_answer *answer)
{
	bool is_end = true;

	for (;;) {
		if (aliases_step(aliases, answer)) {
			is_end = true;
			continue;
		}
		if (is_end && (message_count_addresses(answer) || ++aliases->ends == ENDS_MAX))
			break;
		if (!aliases->depth)
			break;
		aliases_step_back(aliases, question, answer);
		is_end = false;
	}
	aliases_take_path(aliases, answer);
}

/* 0 or -EBADMSG. Leaves at behind the section. An address of a wrong length harms the others nothing. */
static int message_read_answers(const struct rcm_message_question *question, struct rcm_message_answer *answer,
				size_t count, size_t *at)
{
	struct aliases aliases = { 0 };
	struct record record;
	bool broken = false;

	answer->records = *at;
	answer->records_count = count;
	for (size_t i = 0; i < count; i++) {
		if (!message_read_record(answer->bytes, answer->len, at, &record))
			return -EBADMSG;
		broken |= record.type == answer->type && record.size != message_address_size(answer->type);
		if (record.type == ns_t_cname && !message_skip_name(answer->bytes, answer->len, record.data))
			return -EBADMSG;
		aliases_see(&aliases, &record);
		answer->empty = false;
	}
	aliases_follow(&aliases, question, answer);
	return broken && !answer->count ? -EBADMSG : 0;
}

/* RFC 2308, section 5: the lesser of the record's TTL and its last field. */
static void message_read_soa(struct rcm_message_answer *answer, const struct record *record)
{
	size_t at = message_skip_name(answer->bytes, answer->len, record->data);
	struct rcm_reader r;
	uint32_t minimum;

	if (at)
		at = message_skip_name(answer->bytes, answer->len, at);
	if (!at)
		return;
	r = rcm_reader_init(answer->bytes + at, answer->len - at);
	rcm_read_skip(&r, 16);
	minimum = rcm_read_u32(&r);
	if (!r.short_read)
		answer->negative_ttl = minimum < record->ttl ? minimum : record->ttl;
}

/* What is broken in here ends the reading, and harms nothing. */
static void message_read_rest(struct rcm_message_answer *answer, size_t authorities, size_t others, size_t at)
{
	struct record record;

	for (size_t i = 0; i < authorities + others; i++) {
		if (!message_read_record(answer->bytes, answer->len, &at, &record))
			return;
		if (record.type == ns_t_soa && i < authorities)
			message_read_soa(answer, &record);
		if (record.type == ns_t_opt)
			answer->rcode |= record.ttl >> 24 << 4;
		else if (i >= authorities)
			answer->empty = false;
	}
}

/* Whoever doesn't understand a question may leave it out. */
static bool message_is_question(const struct rcm_message_question *question,
				const struct rcm_message_answer *answer, unsigned count, size_t *at)
{
	struct rcm_reader r;

	if (!count)
		return answer->rcode == ns_r_formerr || answer->rcode == ns_r_notimpl;
	if (count != 1 || !message_is_name(answer->bytes, answer->len, *at, question->name))
		return false;
	*at = message_skip_name(answer->bytes, answer->len, *at);
	r = rcm_reader_init(answer->bytes + *at, answer->len - *at);
	*at += 4;
	return rcm_read_u16(&r) == question->type && rcm_read_u16(&r) == ns_c_in && !r.short_read;
}

int rcm_message_read(const struct rcm_message_question *question, bool whole, const uint8_t *bytes, size_t len,
		  struct rcm_message_answer *answer)
{
	struct rcm_reader r = rcm_reader_init(bytes, len);
	size_t at = NS_HFIXEDSZ, counts[4];
	uint16_t flags;

	rcm_read_skip(&r, 2);
	flags = rcm_read_u16(&r);
	for (int i = 0; i < 4; i++)
		counts[i] = rcm_read_u16(&r);
	if (r.short_read || !(flags & FLAG_QR) || flags & MASK_OPCODE)
		return -ENOENT;
	answer->bytes = bytes;
	answer->len = len;
	answer->type = question->type;
	answer->rcode = flags & MASK_RCODE;
	answer->truncated = flags & FLAG_TC;
	answer->authoritative = flags & FLAG_AA;
	answer->recursion = flags & FLAG_RA;
	answer->empty = true;
	answer->count = 0;
	answer->ttl = answer->negative_ttl = UINT32_MAX;
	answer->records = answer->records_count = 0;
	answer->canonname[0] = '\0';
	memcpy(answer->end, question->name, question->name_len);
	if (!message_is_question(question, answer, (unsigned)counts[0], &at))
		return -ENOENT;
	if (answer->truncated && !whole)
		return 0;
	if (message_read_answers(question, answer, counts[1], &at))
		return -EBADMSG;
	message_read_rest(answer, counts[2], counts[3], at);
	return 0;
}

static void message_put_address(union rcm_dns_address *to, uint16_t type, const uint8_t *data)
{
	memset(to, 0, sizeof(*to));
	if (type == ns_t_a) {
		to->in.sin_family = AF_INET;
		memcpy(&to->in.sin_addr, data, sizeof(to->in.sin_addr));
	} else {
		to->in6.sin6_family = AF_INET6;
		memcpy(&to->in6.sin6_addr, data, sizeof(to->in6.sin6_addr));
	}
}

void rcm_message_addresses(const struct rcm_message_answer *answer, union rcm_dns_address *addresses)
{
	size_t at = answer->records;
	struct record record;
	unsigned count = 0;

	while (count < answer->count) {
		if (message_read_again(answer, &at, &record) && message_is_address(answer, &record))
			message_put_address(&addresses[count++], answer->type, answer->bytes + record.data);
	}
}
