/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers by script. */
#include "fake_cares.h"

#include <errno.h>
#include <limits.h>
#include <sys/queue.h>

#include "../unit/test.h"
#include "dns_message.h"

struct rcm_cares {
	int unused;
};

struct rcm_cares_name {
	TAILQ_ENTRY(rcm_cares_name) entry;
	struct rcm_exchange *exchange;
	bool a, aaaa, taken;
	char text[256];
};

static struct {
	TAILQ_HEAD(, rcm_cares_name) names;
	unsigned out, room;
	bool open;
	struct rcm_cares cares;
	const union rcm_dns_address *speaker;
} fake;

static int fake_open(struct rcm_loop *loop, struct rcm_cares **ret_cares)
{
	(void)loop;
	assert_false(fake.open);
	TAILQ_INIT(&fake.names);
	fake.out = 0;
	fake.room = UINT_MAX;
	fake.open = true;
	*ret_cares = &fake.cares;
	return 0;
}

static int fake_ask(struct rcm_cares *cares, struct rcm_resolv *resolv, const char *text, bool a, bool aaaa,
		    struct rcm_exchange *exchange)
{
	struct rcm_cares_name *name;

	assert_ptr_equal(cares, &fake.cares);
	assert_true(a || aaaa);
	assert_null(exchange->name);
	assert_non_null(resolv);
	if (fake.out >= fake.room)
		return -EAGAIN;
	name = calloc(1, sizeof(*name));
	assert_non_null(name);
	name->exchange = exchange;
	name->a = a;
	name->aaaa = aaaa;
	assert_true(strlen(text) < sizeof(name->text));
	strcpy(name->text, text);
	exchange->name = name;
	TAILQ_INSERT_TAIL(&fake.names, name, entry);
	fake.out++;
	return 0;
}

static void fake_drop(struct rcm_exchange *exchange)
{
	if (!exchange->name)
		return;
	TAILQ_REMOVE(&fake.names, exchange->name, entry);
	free(exchange->name);
	exchange->name = NULL;
	fake.out--;
}

static void fake_close(struct rcm_cares *cares)
{
	assert_ptr_equal(cares, &fake.cares);
	assert_true(TAILQ_EMPTY(&fake.names));
	fake.open = false;
}

static void fake_abandon(struct rcm_cares *cares)
{
	struct rcm_cares_name *name;

	while ((name = TAILQ_FIRST(&fake.names)))
		fake_drop(name->exchange);
	fake_close(cares);
}

const struct rcm_cares_ops fake_cares = {
	.open = fake_open,
	.ask = fake_ask,
	.drop = fake_drop,
	.close = fake_close,
	.abandon = fake_abandon,
};

struct rcm_exchange *fake_cares_take(const char *text, bool a, bool aaaa)
{
	struct rcm_cares_name *name;

	TAILQ_FOREACH(name, &fake.names, entry)
		if (!name->taken)
			break;
	if (!name)
		fail_msg("%s was not asked for", text);
	assert_string_equal(name->text, text);
	assert_int_equal(name->a, a);
	assert_int_equal(name->aaaa, aaaa);
	name->taken = true;
	return name->exchange;
}

void fake_cares_assert_over(void)
{
	if (!TAILQ_EMPTY(&fake.names))
		fail_msg("%s is left", TAILQ_FIRST(&fake.names)->text);
}

unsigned fake_cares_out(void)
{
	return fake.out;
}

void fake_cares_room(unsigned room)
{
	fake.room = room;
}

void fake_cares_speaker(const union rcm_dns_address *speaker)
{
	fake.speaker = speaker;
}

static void end(struct rcm_exchange *exchange, const struct rcm_cares_answer *answer)
{
	struct rcm_cares_name *name = exchange->name;
	bool *open = answer->type == ns_t_a ? &name->a : &name->aaaa, last;

	assert_non_null(name);
	assert_true(name->taken && *open);
	*open = false;
	last = !name->a && !name->aaaa;
	if (last)
		fake_drop(exchange);
	exchange->answered(exchange, answer, last);
}

void fake_cares_fail(struct rcm_exchange *exchange, int type, enum rcm_dns_verdict verdict)
{
	end(exchange, &(struct rcm_cares_answer){ .type = type, .verdict = verdict, .server = fake.speaker });
}

void fake_cares_found(struct rcm_exchange *exchange, int type, const char *name, const char *address)
{
	static struct dns_message message;

	dns_message_begin(&message, name, type, 0);
	dns_message_add(&message, name, type, 60, address);
	end(exchange, &(struct rcm_cares_answer){ .type = type, .verdict = RCM_DNS_FOUND, .bytes = message.bytes,
						  .len = message.len, .server = fake.speaker });
}
