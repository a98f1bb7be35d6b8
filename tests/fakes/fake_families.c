/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers by script. */
#include "fake_families.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <sys/queue.h>

#include "../unit/test.h"

struct asked {
	TAILQ_ENTRY(asked) entry;
	int family;
	bool taken;
	char text[256];
	struct rcm_families families;
};

static struct {
	TAILQ_HEAD(, asked) names;
	struct rcm_servers *servers;
	unsigned out, room;
	int refusal;
	bool go_beyond, tight;
	const union rcm_dns_address *speaker;
} fake = { .names = TAILQ_HEAD_INITIALIZER(fake.names), .room = UINT_MAX };

static struct asked *asked_of(struct rcm_families *families)
{
	return (struct asked *)((char *)families - offsetof(struct asked, families));
}

static int fake_start(struct rcm_servers *servers, const struct rcm_resolv *resolv, const char *name, int family,
		      void (*done)(struct rcm_families *families, void *arg), void *arg,
		      struct rcm_families **ret_families)
{
	struct asked *asked;

	assert_non_null(resolv);
	fake.servers = servers;
	if (strstr(name, ".."))
		return -EINVAL;
	if (fake.refusal) {
		int error = fake.refusal;

		fake.refusal = 0;
		return error;
	}
	if ((fake.out >= fake.room || (fake.tight && family == AF_UNSPEC)) && !(fake.go_beyond && servers->beyond))
		return -EAGAIN;
	asked = calloc(1, sizeof(*asked));
	assert_non_null(asked);
	asked->family = family;
	assert_true(strlen(name) < sizeof(asked->text));
	strcpy(asked->text, name);
	asked->families.done = done;
	asked->families.arg = arg;
	asked->families.resolv = resolv;
	TAILQ_INSERT_TAIL(&fake.names, asked, entry);
	fake.out++;
	*ret_families = &asked->families;
	return 0;
}

void fake_families_refuse(int error)
{
	fake.refusal = error;
}

void fake_families_tight(bool tight)
{
	fake.tight = tight;
	if (!tight && fake.servers)
		fake.servers->room(fake.servers->room_arg);
}

void fake_families_go_beyond(bool go)
{
	fake.go_beyond = go;
}

static void fake_flush(struct rcm_servers *servers)
{
	(void)servers;
}

static void fake_free(struct rcm_families *families)
{
	struct asked *asked;

	if (!families)
		return;
	asked = asked_of(families);
	TAILQ_REMOVE(&fake.names, asked, entry);
	fake.out--;
	rcm_reply_clear(&families->reply);
	free(asked);
	fake.servers->room(fake.servers->room_arg);
}

const struct rcm_families_ops fake_families = { .start = fake_start, .flush = fake_flush, .free = fake_free };

struct rcm_families *fake_families_take(const char *name, int family)
{
	struct asked *asked;

	TAILQ_FOREACH(asked, &fake.names, entry)
		if (!asked->taken)
			break;
	if (!asked)
		fail_msg("%s was not asked for", name);
	assert_string_equal(asked->text, name);
	assert_int_equal(asked->family, family);
	asked->taken = true;
	return &asked->families;
}

void fake_families_assert_over(void)
{
	if (!TAILQ_EMPTY(&fake.names))
		fail_msg("%s is left", TAILQ_FIRST(&fake.names)->text);
	fake.room = UINT_MAX;
}

unsigned fake_families_out(void)
{
	return fake.out;
}

void fake_families_room(unsigned room)
{
	bool more = room > fake.room;

	fake.room = room;
	if (more && fake.servers)
		fake.servers->room(fake.servers->room_arg);
}

void fake_families_speaker(const union rcm_dns_address *speaker)
{
	fake.speaker = speaker;
}

static void end(struct rcm_families *families)
{
	assert_true(asked_of(families)->taken);
	families->done(families, families->arg);
}

void fake_families_fail(struct rcm_families *families, enum rcm_dns_verdict verdict)
{
	families->verdict = verdict;
	families->speaker = fake.speaker;
	end(families);
}

void fake_families_fail_for(struct rcm_families *families, enum rcm_dns_verdict verdict, uint32_t ttl)
{
	families->reply.limited = true;
	families->reply.ttl = ttl;
	fake_families_fail(families, verdict);
}

static void read_address(const char *text, union rcm_dns_address *to)
{
	memset(to, 0, sizeof(*to));
	to->sa.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(to->sa.sa_family, text, to->sa.sa_family == AF_INET ? (void *)&to->in.sin_addr :
				   (void *)&to->in6.sin6_addr), 1);
}

static void add(struct rcm_reply *reply, const char *text)
{
	reply->addresses = realloc(reply->addresses, (reply->count + 1) * sizeof(*reply->addresses));
	assert_non_null(reply->addresses);
	read_address(text, &reply->addresses[reply->count++]);
}

void fake_families_found_so_far(struct rcm_families *families, const char *address)
{
	families->verdict = RCM_DNS_FOUND;
	families->reply.ttl = 60;
	add(&families->reply, address);
}

void fake_families_found(struct rcm_families *families, const char *first, const char *second)
{
	fake_families_found_so_far(families, first);
	if (second)
		add(&families->reply, second);
	end(families);
}

void fake_families_found_srv(struct rcm_families *families, const char *target, uint16_t port, const char *address)
{
	struct rcm_srvs *srvs = calloc(1, sizeof(*srvs));

	assert_non_null(srvs);
	srvs->records = calloc(1, sizeof(*srvs->records));
	srvs->addresses = calloc(1, sizeof(*srvs->addresses));
	assert_true(srvs->records && srvs->addresses);
	srvs->count = 1;
	srvs->addresses_count = address != NULL;
	srvs->records->port = port;
	srvs->records->count = srvs->addresses_count;
	strcpy(srvs->records->target, target);
	if (address)
		read_address(address, srvs->addresses);
	families->verdict = RCM_DNS_FOUND;
	families->reply.srvs = srvs;
	families->reply.count = 1;
	families->reply.ttl = 60;
	end(families);
}

void fake_families_half(struct rcm_families *families, const char *address, int missing)
{
	fake_families_found_so_far(families, address);
	families->half = true;
	families->missing = missing;
	end(families);
}
