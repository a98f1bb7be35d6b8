/* SPDX-License-Identifier: BSD-2-Clause */
/* A name as text, a NUL, then what becomes of the question about it: its own octets changed here and there, as an answer.
 * So an answer that fits the question is never far away. */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "dns/message.h"
#include "fuzz.h"

static size_t take_name(struct rcm_reader *r, uint8_t name[RCM_LABELS_MAX])
{
	char text[300];
	size_t len = 0;

	while (rcm_reader_left(r) && len + 1 < sizeof(text) && (text[len] = (char)rcm_read_u8(r)))
		len++;
	text[len] = '\0';
	return rcm_labels_read(text, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_reader r = rcm_reader_init(bytes, len);
	uint8_t name[RCM_LABELS_MAX], message[RCM_MESSAGE_QUESTION_MAX + 512];
	struct rcm_message_question question = { .name = name };
	struct rcm_message_answer answer;
	union rcm_dns_address addresses[64];
	size_t asked, rest;
	uint8_t flags;

	flags = rcm_read_u8(&r);
	question.type = flags & 1 ? ns_t_a : ns_t_aaaa;
	question.edns = flags & 2;
	question.trust_ad = flags & 4;
	question.name_len = take_name(&r, name);
	if (!question.name_len)
		return 0;
	assert(question.name_len <= RCM_LABELS_MAX);
	asked = rcm_message_ask(&question, 0x1234, message);
	assert(asked >= 12 + question.name_len + 4 && asked <= RCM_MESSAGE_QUESTION_MAX);
	/* A question is no answer; the same with QR set is one, an empty one. */
	assert(rcm_message_read(&question, false, message, asked, &answer));
	message[2] |= 0x80;
	assert(!rcm_message_read(&question, false, message, asked, &answer));
	assert(!answer.count && !answer.rcode && answer.empty);
	if (question.edns)
		asked -= 11;
	memset(message + 6, 0, 6);
	message[7] = (uint8_t)(rcm_read_u8(&r) & 0x3f);
	rest = rcm_reader_left(&r) < 512 ? rcm_reader_left(&r) : 512;
	rcm_read_bytes(&r, message + asked, rest);
	if (rcm_message_read(&question, flags & 8, message, asked + rest, &answer))
		return 0;
	assert(answer.count <= 64);
	rcm_message_addresses(&answer, addresses);
	return 0;
}
