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
	ALIASES_MAX = 32,		/* followed for one name: beyond it is a circle */
	ALIASES_SEEN_MAX = 64,		/* looked at in one answer */
	ENDS_MAX = 4,			/* of aliases, looked at for addresses */
};

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

static bool message_read_again(const struct rcm_message_answer *answer, size_t *at, struct rcm_rr *ret_rr)
{
	return rcm_rr_read_again(answer->bytes, answer->len, at, ret_rr);
}

bool rcm_message_wants(const struct rcm_message_answer *answer, const struct rcm_rr *rr)
{
	return rr->type == answer->type && rcm_rr_fits(answer->bytes, answer->len, rr) &&
	       rcm_labels_are(answer->bytes, answer->len, rr->owner, answer->end);
}

/* Records of other names are none of the question's: RFC 5452, section 6. */
static bool message_count_wanted(struct rcm_message_answer *answer)
{
	size_t at = answer->records;
	struct rcm_rr rr;

	for (size_t i = 0; i < answer->records_count; i++) {
		if (!message_read_again(answer, &at, &rr) || !rcm_message_wants(answer, &rr))
			continue;
		answer->count++;
		if (rr.ttl < answer->ttl)
			answer->ttl = rr.ttl;
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

static void aliases_see(struct aliases *aliases, const struct rcm_rr *rr)
{
	if (rr->type == ns_t_cname && aliases->count < ALIASES_SEEN_MAX)
		aliases->seen[aliases->count++] = (struct alias){
			.owner = rr->owner, .target = rr->data, .ttl = rr->ttl,
		};
}

/* From the name looked at to one that it is an alias of; false: there is none, or none that wasn't followed. */
static bool aliases_step(struct aliases *aliases, struct rcm_message_answer *answer)
{
	for (unsigned i = 0; i < aliases->count && aliases->followed < ALIASES_MAX; i++) {
		struct alias *alias = &aliases->seen[i];

		if (alias->followed || !rcm_labels_are(answer->bytes, answer->len, alias->owner, answer->end))
			continue;
		alias->followed = true;
		aliases->followed++;
		aliases->path[aliases->depth++] = alias;
		return rcm_labels_copy(answer->bytes, answer->len, alias->target, answer->end);
	}
	return false;
}

static void aliases_step_back(struct aliases *aliases, const struct rcm_message_question *question,
			      struct rcm_message_answer *answer)
{
	if (--aliases->depth)
		rcm_labels_copy(answer->bytes, answer->len, aliases->path[aliases->depth - 1]->target, answer->end);
	else
		memcpy(answer->end, question->name, question->name_len);
}

static void aliases_take_path(const struct aliases *aliases, struct rcm_message_answer *answer)
{
	uint8_t name[RCM_LABELS_MAX];
	char text[NS_MAXDNAME];

	for (unsigned i = 0; i < aliases->depth; i++) {
		const struct alias *alias = aliases->path[i];

		if (alias->ttl < answer->ttl)
			answer->ttl = alias->ttl;
		rcm_labels_copy(answer->bytes, answer->len, alias->target, name);
		rcm_labels_print(name, text);
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
		if (is_end && (message_count_wanted(answer) || ++aliases->ends == ENDS_MAX))
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
	struct rcm_rr rr;
	bool broken = false;

	answer->records = *at;
	answer->records_count = count;
	for (size_t i = 0; i < count; i++) {
		if (!rcm_rr_read(answer->bytes, answer->len, at, &rr))
			return -EBADMSG;
		broken |= rr.type == answer->type && !rcm_rr_fits(answer->bytes, answer->len, &rr);
		if (rr.type == ns_t_cname && !rcm_labels_skip(answer->bytes, answer->len, rr.data))
			return -EBADMSG;
		aliases_see(&aliases, &rr);
		answer->empty = false;
	}
	aliases_follow(&aliases, question, answer);
	return broken && !answer->count ? -EBADMSG : 0;
}

/* RFC 2308, section 5: the lesser of the record's TTL and its last field. */
static void message_read_soa(struct rcm_message_answer *answer, const struct rcm_rr *rr)
{
	size_t at = rcm_labels_skip(answer->bytes, answer->len, rr->data);
	struct rcm_reader r;
	uint32_t minimum;

	if (at)
		at = rcm_labels_skip(answer->bytes, answer->len, at);
	if (!at)
		return;
	r = rcm_reader_init(answer->bytes + at, answer->len - at);
	rcm_read_skip(&r, 16);
	minimum = rcm_read_u32(&r);
	if (!r.short_read)
		answer->negative_ttl = minimum < rr->ttl ? minimum : rr->ttl;
}

/* What is broken in here ends the reading, and harms nothing. */
static void message_read_rest(struct rcm_message_answer *answer, size_t authorities, size_t others, size_t at)
{
	struct rcm_rr rr;

	for (size_t i = 0; i < authorities + others; i++) {
		if (i == authorities)
			answer->extras = at;
		if (!rcm_rr_read(answer->bytes, answer->len, &at, &rr))
			return;
		if (rr.type == ns_t_soa && i < authorities)
			message_read_soa(answer, &rr);
		if (rr.type == ns_t_opt)
			answer->rcode |= rr.ttl >> 24 << 4;
		else if (i >= authorities)
			answer->empty = false;
		if (i >= authorities)
			answer->extras_count++;
	}
}

/* Whoever doesn't understand a question may leave it out. */
static bool message_is_question(const struct rcm_message_question *question,
				const struct rcm_message_answer *answer, unsigned count, size_t *at)
{
	struct rcm_reader r;

	if (!count)
		return answer->rcode == ns_r_formerr || answer->rcode == ns_r_notimpl;
	if (count != 1 || !rcm_labels_are(answer->bytes, answer->len, *at, question->name))
		return false;
	*at = rcm_labels_skip(answer->bytes, answer->len, *at);
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
	answer->asked = question->name;
	answer->rcode = flags & MASK_RCODE;
	answer->truncated = flags & FLAG_TC;
	answer->authoritative = flags & FLAG_AA;
	answer->recursion = flags & FLAG_RA;
	answer->empty = true;
	answer->count = 0;
	answer->ttl = answer->negative_ttl = UINT32_MAX;
	answer->records = answer->records_count = answer->extras = answer->extras_count = 0;
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

void rcm_message_put_address(union rcm_dns_address *to, uint16_t type, const uint8_t *data)
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
	struct rcm_rr rr;
	unsigned count = 0;

	while (count < answer->count) {
		if (message_read_again(answer, &at, &rr) && rcm_message_wants(answer, &rr))
			rcm_message_put_address(&addresses[count++], answer->type, answer->bytes + rr.data);
	}
}
