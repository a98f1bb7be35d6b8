/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name server that misbehaves as the first label of the name asked says.
 *
 * usage: liar ADDRESS [PORT]
 *
 *   live[-X]		A 192.0.2.5, AAAA 2001:db8::5
 *   nxdomain, servfail, refused, formerr, notimp[-X]	that rcode
 *   nodata[-X]		no error and no answer
 *   soa-N[-X]		nxdomain, which may be kept for N seconds
 *   delay-N[-X]	as live, N ms late
 *   silent[-X]		nothing, ever
 *   drop-N[-X]		nothing to the first N questions for that name, then as live
 *   trunc[-X]		truncated, and TCP connections closed without an answer
 *   tcp[-X]		truncated, and answered over TCP
 *   wrongid[-X]	as live under another transaction id
 *   wrongname[-X]	as live for another question
 *   garbage[-X]	the question's id, then rubbish
 *   short[-X]		three octets
 *   ttl-N[-X]		as live with a TTL of N seconds
 *   aonly[-X]		A as live, AAAA nxdomain (as broken load balancers do)
 *   four-BEHAVIOUR	A as live, AAAA as BEHAVIOUR says
 *   six-BEHAVIOUR	AAAA as live, A as BEHAVIOUR says
 *   many-N		N records, by UDP too, and never truncated
 *   padded[-X]		as live, and 16 octets behind the message
 *   behind[-X]		an alias whose address stands in front of it
 *   lame[-X]		no error, no answer, neither AA nor RA
 *   noquestion[-X]	as live without the question section
 *   shy[-X]		FORMERR to who sends EDNS, as live to others
 *   once[-X]		as live to the first question from a port, nothing to others from it
 *   pieces[-X]		truncated, and answered over TCP octet by octet
 *   hangup[-X]		truncated, and each TCP connection closed behind its first answer
 *   sulk[-X]		as silent by UDP; TCP connections closed 300 ms later without an answer
 *   half[-X]		truncated, and TCP connections closed in the middle of the answer
 *   twice[-X]		as live, twice
 *   elsewhere[-X]	as live, by UDP from another address
 *   echo[-X]		the question itself
 *   chain-N		N aliases, and the address of the last in front of them, which stand the wrong way round
 *   loop[-X]		two aliases of each other
 *   badvers[-X]	an EDNS version that isn't spoken, to who sends EDNS; as live to others
 *   othertype[-X]	a record of the other family
 *   badlength[-X]	a record whose length is one too many
 *   rcode-N[-X]	response code N
 *   shuffle-N[-X]	as live, up to N ms late, so that answers come in another order
 *   uncalled-N[-X]	as live, behind N answers to questions that nobody asked
 *   stall[-X]		truncated, and nothing over TCP, whose connections stay open
 *   stuck[-X]		truncated, and over TCP half of the answer, nothing more, the connection stays open
 *   junk[-X]		truncated, and over TCP an empty message and rubbish in front of the answer
 *   chaos-N		one of all these, the same for the same N, and maybe some octets changed or cut off
 *
 * Asked for SRV records, by a first label that begins with "_", it has one of priority 0 and port 7001, whose target is
 * "live" in the domain behind the first two labels, and what stands above of the same label; or
 *
 *   _srv-in		target "silent" there, whose address 10.1.1.1 comes along
 *   _srv-out		target live.other.test, of which it says 10.6.6.6
 *   _srv-stranger	target "live" there, and 10.6.6.6 for "other" there
 *   _srv-short		a record of five octets
 *   _srv-long		a record with an octet behind its target
 *   _srv-root		target "."
 *   _srv-half		target "silent-half" there, and, of priority 1, "live"
 *   _srv-late		target "delay-500" there
 *   _srv-void		target "nxdomain" there, and "servfail"
 *   _srv-host		a target that can be no host's name
 *
 *   count-N		A 10.x.y.z: the number of questions before this one (of TCP: connections)
 *
 * Anything else is answered as live, with the TTL that RAI_LIAR_TTL in the environment says (60 s). SIGTERM ends it.
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_LEN = 12, QUESTION_MAX = 512, MESSAGE_MAX = 65535, DROP_SLOTS = 1 << 16, SULK_US = 300000 };

struct answer {
	TAILQ_ENTRY(answer) entry;
	uint64_t due_ms;
	struct sockaddr_storage to;
	socklen_t to_len;
	char how[64];
	size_t len;
	uint8_t bytes[MESSAGE_MAX];
};

struct question {
	char label[64];		/* the first label, in lower case */
	uint16_t type;
	size_t end;		/* offset behind the question section */
	uint32_t hash;		/* of name and type */
	uint16_t port;		/* UDP: it came from */
	bool edns;
	bool tcp;
};

static TAILQ_HEAD(answers, answer) late = TAILQ_HEAD_INITIALIZER(late);
static uint8_t dropped[DROP_SLOTS];
static uint8_t ports[1 << 16];		/* questions for "once" from each */
static uint32_t asked;
static int elsewhere;			/* a socket of another address */
static uint32_t usual_ttl = 60;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Returns false for what is no question of one name. */
static bool parse(const uint8_t *msg, size_t len, struct question *q)
{
	size_t at = HEAD_LEN;

	if (len < HEAD_LEN || msg[4] || msg[5] != 1)
		return false;
	q->hash = 5381;
	while (at < len && msg[at]) {
		if (msg[at] > 63)
			return false;
		at += msg[at] + 1U;
	}
	if (at + 5 > len)
		return false;
	for (size_t i = HEAD_LEN; i < at + 3; i++)
		q->hash = q->hash * 33 + msg[i];
	for (size_t i = 0; i < msg[HEAD_LEN]; i++) {
		uint8_t c = msg[HEAD_LEN + 1 + i];

		q->label[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	q->label[msg[HEAD_LEN]] = '\0';
	q->type = (uint16_t)(msg[at + 1] << 8 | msg[at + 2]);
	q->end = at + 5;
	q->edns = msg[11];
	return true;
}

/* Behaviour w is asked for: returns what follows "w-", "" for a bare w, NULL for another. */
static const char *rest_of(const char *label, const char *w)
{
	size_t n = strlen(w);

	if (strncmp(label, w, n))
		return NULL;
	return label[n] == '-' ? label + n + 1 : label[n] ? NULL : "";
}

static void start(struct answer *a, const uint8_t *msg, const struct question *q, unsigned rcode)
{
	memcpy(a->bytes, msg, q->end);
	a->bytes[2] = (uint8_t)(0x84 | (msg[2] & 1));
	a->bytes[3] = (uint8_t)(0x80 | rcode);
	memset(a->bytes + 6, 0, 6);
	a->len = q->end;
}

static void add_record(struct answer *a, uint16_t type, uint32_t ttl, const void *data, uint8_t n)
{
	uint8_t *p = a->bytes + a->len;
	const uint8_t fixed[12] = { 0xc0, HEAD_LEN, 0, (uint8_t)type, 0, ns_c_in,
				    (uint8_t)(ttl >> 24), (uint8_t)(ttl >> 16),
				    (uint8_t)(ttl >> 8), (uint8_t)ttl, 0, n };

	memcpy(p, fixed, sizeof(fixed));
	memcpy(p + sizeof(fixed), data, n);
	a->len += sizeof(fixed) + n;
	if (!++a->bytes[7])
		a->bytes[6]++;
}

static void add_many(struct answer *a, const struct question *q, unsigned count)
{
	uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8 };

	for (unsigned i = 0; i < count && a->len + 28 < 65000; i++) {
		v6[14] = (uint8_t)(i >> 8);
		v6[15] = (uint8_t)i;
		if (q->type == ns_t_a)
			add_record(a, ns_t_a, usual_ttl, (const uint8_t[]){ 10, 9, v6[14], v6[15] }, 4);
		else
			add_record(a, ns_t_aaaa, usual_ttl, v6, sizeof(v6));
	}
}

/* "end" in the name's own domain, whose address comes first: owners are pointers to the label behind the alias. */
static void add_behind(struct answer *a, const struct question *q)
{
	const uint8_t target[] = { 3, 'e', 'n', 'd', 0xc0, (uint8_t)(HEAD_LEN + 1 + a->bytes[HEAD_LEN]) };
	const uint8_t v4[4] = { 192, 0, 2, 5 }, v6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 5 };
	size_t owner = a->len;

	/* The owner in full instead of the pointer that add_record() writes. */
	memcpy(a->bytes + owner, target, sizeof(target));
	a->len += sizeof(target) - 2;
	if (q->type == ns_t_a)
		add_record(a, ns_t_a, 60, v4, sizeof(v4));
	else
		add_record(a, ns_t_aaaa, 60, v6, sizeof(v6));
	memcpy(a->bytes + owner, target, sizeof(target));
	add_record(a, ns_t_cname, 60, target, sizeof(target));
}

/* Name i of a chain, whose first is the one asked for; the others are letters in its domain. */
static void add_chained(struct answer *a, unsigned i)
{
	uint8_t *p = a->bytes + a->len;
	const uint8_t name[] = { 1, (uint8_t)('a' + i), 0xc0, (uint8_t)(HEAD_LEN + 1 + a->bytes[HEAD_LEN]) };

	if (i)
		memcpy(p, name, sizeof(name));
	else
		memcpy(p, (const uint8_t[]){ 0xc0, HEAD_LEN }, 2);
	a->len += i ? sizeof(name) : 2;
}

static void add_alias(struct answer *a, unsigned from, unsigned to)
{
	const uint8_t fixed[] = { 0, ns_t_cname, 0, ns_c_in, 0, 0, 0, (uint8_t)usual_ttl, 0 };
	size_t size;

	add_chained(a, from);
	memcpy(a->bytes + a->len, fixed, sizeof(fixed));
	a->len += sizeof(fixed) + 1;
	size = a->len;
	add_chained(a, to);
	a->bytes[size - 1] = (uint8_t)(a->len - size);
	a->bytes[7]++;
}

static void add_chain(struct answer *a, const struct question *q, unsigned count)
{
	const uint8_t data[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 5 };
	const uint8_t size = q->type == ns_t_a ? 4 : 16;
	const uint8_t fixed[] = { 0, (uint8_t)q->type, 0, ns_c_in, 0, 0, 0, (uint8_t)usual_ttl, 0, size };

	count = count < 25 ? count : 25;
	add_chained(a, count);
	memcpy(a->bytes + a->len, fixed, sizeof(fixed));
	memcpy(a->bytes + a->len + sizeof(fixed), data, size);
	a->len += sizeof(fixed) + size;
	a->bytes[7]++;
	while (count--)
		add_alias(a, count, count + 1);
}

/* In the OPT record are the upper bits of the code. */
static void add_badvers(struct answer *a)
{
	static const uint8_t opt[] = { 0, 0, ns_t_opt, 4, 0xd0, 1, 0, 0, 0, 0, 0 };

	memcpy(a->bytes + a->len, opt, sizeof(opt));
	a->len += sizeof(opt);
	a->bytes[11]++;
}

static void add_live(struct answer *a, const struct question *q, uint32_t ttl)
{
	static const uint8_t v4[4] = { 192, 0, 2, 5 };
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 5 };

	if (q->type == ns_t_a)
		add_record(a, ns_t_a, ttl, v4, sizeof(v4));
	else if (q->type == ns_t_aaaa)
		add_record(a, ns_t_aaaa, ttl, v6, sizeof(v6));
}

/* A name in the domain behind the first two labels of the one asked, or whole. */
static size_t put_host(const struct answer *a, uint8_t *to, const char *label, bool whole)
{
	size_t n = strlen(label), domain = HEAD_LEN;

	domain += a->bytes[domain] + 1U;
	domain += a->bytes[domain] + 1U;
	to[0] = (uint8_t)n;
	memcpy(to + 1, label, n);
	if (whole) {
		memcpy(to + 1 + n, "\5other\4test", 12);
		return n + 13;
	}
	to[n + 1] = 0xc0;
	to[n + 2] = (uint8_t)domain;
	return n + 3;
}

static void add_target(struct answer *a, uint8_t priority, const char *label, bool whole)
{
	uint8_t data[64] = { 0, priority, 0, 0, 7001 >> 8, 7001 & 0xff };

	add_record(a, ns_t_srv, 60, data, (uint8_t)(6 + put_host(a, data + 6, label, whole)));
}

static void add_extra(struct answer *a, const char *label, bool whole, const uint8_t v4[4])
{
	static const uint8_t fixed[] = { 0, ns_t_a, 0, ns_c_in, 0, 0, 0, 60, 0, 4 };

	a->len += put_host(a, a->bytes + a->len, label, whole);
	memcpy(a->bytes + a->len, fixed, sizeof(fixed));
	memcpy(a->bytes + a->len + sizeof(fixed), v4, 4);
	a->len += sizeof(fixed) + 4;
	a->bytes[11]++;
}

static void add_srv(struct answer *a, const char *how)
{
	static const uint8_t truth[] = { 10, 1, 1, 1 }, untruth[] = { 10, 6, 6, 6 };

	if (!strcmp(how, "srv-in")) {
		add_target(a, 0, "silent", false);
		add_extra(a, "silent", false, truth);
	} else if (!strcmp(how, "srv-out")) {
		add_target(a, 0, "live", true);
		add_extra(a, "live", true, untruth);
	} else if (!strcmp(how, "srv-stranger")) {
		add_target(a, 0, "live", false);
		add_extra(a, "other", false, untruth);
	} else if (!strcmp(how, "srv-short")) {
		add_record(a, ns_t_srv, 60, "\0\0\0\0\7", 5);
	} else if (!strcmp(how, "srv-long")) {
		add_record(a, ns_t_srv, 60, "\0\0\0\0\7\0\1a\0\1", 10);
	} else if (!strcmp(how, "srv-root")) {
		add_record(a, ns_t_srv, 60, "\0\0\0\0\0\0", 7);
	} else if (!strcmp(how, "srv-half")) {
		add_target(a, 0, "silent-half", false);
		add_target(a, 1, "live", false);
	} else if (!strcmp(how, "srv-late")) {
		add_target(a, 0, "delay-500", false);
	} else if (!strcmp(how, "srv-void")) {
		add_target(a, 0, "nxdomain", false);
		add_target(a, 0, "servfail", false);
	} else if (!strcmp(how, "srv-host")) {
		add_target(a, 0, "a b", false);
	} else {
		add_target(a, 0, "live", false);
	}
}

static void add_count(struct answer *a, const struct question *q)
{
	const uint8_t v4[4] = { 10, (uint8_t)(asked >> 16), (uint8_t)(asked >> 8),
				(uint8_t)asked };

	if (q->type == ns_t_a)
		add_record(a, ns_t_a, 0, v4, sizeof(v4));
}

/* Of the root, whose names are as short as can be: what counts is its TTL and its last field. */
static void add_soa(struct answer *a, uint32_t minimum)
{
	const uint8_t fixed[] = { 0, 0, ns_t_soa, 0, ns_c_in, 0, 0, 0x0e, 0x10, 0, 22, 0, 0 };
	uint8_t *p = a->bytes + a->len;

	memcpy(p, fixed, sizeof(fixed));
	memset(p + sizeof(fixed), 0, 16);
	for (int i = 0; i < 4; i++)
		p[sizeof(fixed) + 16 + i] = (uint8_t)(minimum >> (24 - 8 * i));
	a->len += sizeof(fixed) + 20;
	a->bytes[9]++;
}

static bool lie_by_rcode(struct answer *a, const uint8_t *msg, const struct question *q,
			 const char *how)
{
	static const struct { const char *name; unsigned rcode; } rcodes[] = {
		{ "nxdomain", ns_r_nxdomain }, { "servfail", ns_r_servfail },
		{ "refused", ns_r_refused }, { "formerr", ns_r_formerr },
		{ "notimp", ns_r_notimpl }, { "nodata", ns_r_noerror },
	};
	const char *n;

	for (size_t i = 0; i < sizeof(rcodes) / sizeof(*rcodes); i++) {
		if (!rest_of(how, rcodes[i].name))
			continue;
		start(a, msg, q, rcodes[i].rcode);
		return true;
	}
	n = rest_of(how, "rcode");
	if (n) {
		start(a, msg, q, strtoul(n, NULL, 10) & 0xf);
		return true;
	}
	n = rest_of(how, "soa");
	if (n) {
		start(a, msg, q, ns_r_nxdomain);
		add_soa(a, (uint32_t)strtoul(n, NULL, 10));
		return true;
	}
	if (!rest_of(how, "aonly") || q->type == ns_t_a)
		return false;
	start(a, msg, q, ns_r_nxdomain);
	return true;
}

static void lie_by_form(struct answer *a, const struct question *q, const char *how)
{
	if (rest_of(how, "trunc") || (rest_of(how, "tcp") && !q->tcp)) {
		a->bytes[2] |= 0x02;
	} else if (rest_of(how, "wrongid")) {
		a->bytes[0] ^= 0xff;
	} else if (rest_of(how, "wrongname")) {
		a->bytes[HEAD_LEN + 1] ^= 0x01;
	} else if (rest_of(how, "garbage")) {
		memset(a->bytes + 4, 0xee, a->len - 4);
	} else if (rest_of(how, "short")) {
		a->len = 3;
	} else if (rest_of(how, "padded")) {
		memset(a->bytes + a->len, 0, 16);
		a->len += 16;
	} else if (rest_of(how, "lame")) {
		a->len = q->end;
		a->bytes[2] &= 0xfb;
		a->bytes[3] = a->bytes[7] = 0;
	} else if (rest_of(how, "noquestion")) {
		memmove(a->bytes + HEAD_LEN, a->bytes + q->end, a->len - q->end);
		a->len -= q->end - HEAD_LEN;
		a->bytes[5] = 0;
	} else if (rest_of(how, "shy") && q->edns) {
		a->len = q->end;
		a->bytes[3] |= ns_r_formerr;
		a->bytes[7] = 0;
	} else if (rest_of(how, "othertype")) {
		a->bytes[q->end + 3] = q->type == ns_t_a ? ns_t_aaaa : ns_t_a;
	} else if (rest_of(how, "badlength")) {
		a->bytes[q->end + 11]++;
	} else if (!q->tcp && (rest_of(how, "pieces") || rest_of(how, "hangup") || rest_of(how, "half") ||
			       rest_of(how, "junk") || rest_of(how, "stall") || rest_of(how, "stuck"))) {
		a->len = q->end;
		a->bytes[2] |= 0x02;
		a->bytes[7] = 0;
	}
}

/* Numbers that look random, the same ones for the same N. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Chooses for "chaos-N"; seed goes on with what to damage. */
static const char *choose(const char *n, uint16_t type, uint32_t *seed)
{
	static const char *const all[] = {
		"live", "nxdomain", "servfail", "refused", "formerr", "notimp", "nodata", "delay-20", "silent", "trunc",
		"tcp", "wrongid", "wrongname", "garbage", "short", "many-40", "many-2000", "padded", "behind", "lame",
		"noquestion", "shy", "pieces", "hangup", "half", "twice", "elsewhere", "echo", "chain-9", "loop", "badvers",
		"othertype", "badlength", "junk", "soa-60", "aonly", "drop-1", "once", "sulk", "live", "live", "live", "live",
		"live", "live", "live", "live", "live", "live", "live", "live", "live",
	};

	*seed = (uint32_t)strtoul(n, NULL, 10) * 2654435761u + type;
	next_random(seed);
	return all[next_random(seed) % (sizeof(all) / sizeof(*all))];
}

static void damage(struct answer *a, uint32_t *seed)
{
	if (next_random(seed) % 4)
		return;
	for (uint32_t i = next_random(seed) % 4; i; i--)
		a->bytes[2 + next_random(seed) % (a->len - 2)] = (uint8_t)next_random(seed);
	if (next_random(seed) % 2)
		a->len -= next_random(seed) % (a->len - 2);
}

/* Returns false where the lie is silence. */
static bool lie(struct answer *a, const uint8_t *msg, struct question *q)
{
	const char *how = q->label + (*q->label == '_'), *n;
	bool chaos = (n = rest_of(how, "chaos"));
	uint32_t ttl = usual_ttl, seed = 0;

	if (chaos)
		how = choose(n, q->type, &seed);
	if ((n = rest_of(how, "four")) || (n = rest_of(how, "six"))) {
		bool live = q->type == (how[0] == 'f' ? ns_t_a : ns_t_aaaa);

		how = live ? "live" : n;
	}
	if (rest_of(how, "badvers") && !q->edns)
		how = "live";
	if (q->tcp && rest_of(how, "sulk"))
		usleep(SULK_US);
	if (rest_of(how, "silent") || rest_of(how, "sulk") || (q->tcp && rest_of(how, "trunc")))
		return false;
	if ((n = rest_of(how, "drop")) &&
	    dropped[q->hash % DROP_SLOTS]++ < strtoul(n, NULL, 10))
		return false;
	if (rest_of(how, "once") && !q->tcp && ports[q->port]++)
		return false;
	if (lie_by_rcode(a, msg, q, how))
		return true;
	start(a, msg, q, ns_r_noerror);
	if ((n = rest_of(how, "delay")))
		a->due_ms += strtoul(n, NULL, 10) + 1;	/* no less: now_ms() cuts off */
	if ((n = rest_of(how, "shuffle")))
		a->due_ms += (q->hash ^ q->hash >> 16) % (uint32_t)strtoul(n, NULL, 10);
	if ((n = rest_of(how, "ttl")))
		ttl = (uint32_t)strtoul(n, NULL, 10);
	if (rest_of(how, "count"))
		add_count(a, q);
	else if ((n = rest_of(how, "many")))
		add_many(a, q, (unsigned)strtoul(n, NULL, 10));
	else if (rest_of(how, "behind"))
		add_behind(a, q);
	else if ((n = rest_of(how, "chain")))
		add_chain(a, q, (unsigned)strtoul(n, NULL, 10));
	else if (rest_of(how, "loop"))
		add_alias(a, 0, 1), add_alias(a, 1, 0);
	else if (rest_of(how, "badvers"))
		add_badvers(a);
	else if (rest_of(how, "echo"))
		a->bytes[2] &= 0x7f;
	else if (q->type == ns_t_srv)
		add_srv(a, how);
	else
		add_live(a, q, ttl);
	lie_by_form(a, q, how);
	snprintf(a->how, sizeof(a->how), "%s", how);
	if (chaos)
		damage(a, &seed);
	return true;
}

/* In front of an answer: as many under ids that were not asked under, or not for this. */
static void send_uncalled(int fd, struct answer *a, unsigned long count)
{
	uint8_t id[2] = { a->bytes[0], a->bytes[1] };

	for (unsigned long i = 1; i <= count; i++) {
		a->bytes[0] = (uint8_t)(id[0] + i);
		a->bytes[1] = (uint8_t)(id[1] ^ i);
		sendto(fd, a->bytes, a->len, 0, (struct sockaddr *)&a->to, a->to_len);
	}
	memcpy(a->bytes, id, sizeof(id));
}

static void send_due(int fd)
{
	struct answer *a;
	const char *n;

	while ((a = TAILQ_FIRST(&late)) && a->due_ms <= now_ms()) {
		if ((n = rest_of(a->how, "uncalled")))
			send_uncalled(fd, a, strtoul(n, NULL, 10));
		for (int i = 0; i <= !!rest_of(a->how, "twice"); i++)
			sendto(rest_of(a->how, "elsewhere") ? elsewhere : fd, a->bytes, a->len, 0, (struct sockaddr *)&a->to, a->to_len);
		TAILQ_REMOVE(&late, a, entry);
		free(a);
	}
}

static void keep_late(struct answer *a)
{
	struct answer *before;

	TAILQ_FOREACH_REVERSE(before, &late, answers, entry)
		if (before->due_ms <= a->due_ms)
			break;
	if (before)
		TAILQ_INSERT_AFTER(&late, before, a, entry);
	else
		TAILQ_INSERT_HEAD(&late, a, entry);
}

static void serve_udp(int fd)
{
	struct answer *a = malloc(sizeof(*a));
	uint8_t msg[QUESTION_MAX];
	struct question q = { 0 };
	ssize_t n;

	if (!a)
		err(1, "malloc");
	a->how[0] = '\0';
	a->to_len = sizeof(a->to);
	a->due_ms = now_ms();
	n = recvfrom(fd, msg, sizeof(msg), MSG_DONTWAIT, (struct sockaddr *)&a->to, &a->to_len);
	q.port = ntohs(((struct sockaddr_in *)&a->to)->sin_port);
	if (n < 0 || !parse(msg, (size_t)n, &q) || !lie(a, msg, &q)) {
		free(a);
		asked += n >= 0;
		return;
	}
	asked++;
	keep_late(a);
}

/* Until the other side closes the connection. */
static void wait_for_end(int fd)
{
	uint8_t ignored[QUESTION_MAX];

	while (recv(fd, ignored, sizeof(ignored), 0) > 0)
		;
}

/* One question and its answer; returns false at the end of the connection. */
static bool serve_stream(int fd)
{
	struct question q = { .tcp = true };
	static struct answer a;
	uint8_t msg[QUESTION_MAX], length[2];
	size_t piece;
	size_t len;

	if (recv(fd, length, sizeof(length), MSG_WAITALL) != sizeof(length))
		return false;
	len = (size_t)(length[0] << 8 | length[1]);
	if (len > sizeof(msg) || recv(fd, msg, len, MSG_WAITALL) != (ssize_t)len)
		return false;
	a.how[0] = '\0';
	if (!parse(msg, len, &q) || !lie(&a, msg, &q))
		return false;
	length[0] = (uint8_t)(a.len >> 8);
	length[1] = (uint8_t)a.len;
	if (rest_of(a.how, "stall")) {
		wait_for_end(fd);
		return false;
	}
	if (rest_of(a.how, "junk"))
		send(fd, "\0\0\0\5rubb", 8, MSG_NOSIGNAL), send(fd, "i", 1, MSG_NOSIGNAL);
	send(fd, length, sizeof(length), MSG_MORE | MSG_NOSIGNAL);
	piece = rest_of(a.how, "pieces") ? 1 : a.len;
	if (rest_of(a.how, "half") || rest_of(a.how, "stuck"))
		a.len /= 2;
	for (size_t at = 0; at < a.len; at += piece)
		send(fd, a.bytes + at, a.len - at < piece ? a.len - at : piece, MSG_NOSIGNAL);
	if (rest_of(a.how, "stuck"))
		wait_for_end(fd);
	return !rest_of(a.how, "stuck") && !rest_of(a.how, "hangup") && !rest_of(a.how, "half");
}

/* A process each: clients keep their connections, and delays must hold up nobody. */
static void serve_tcp(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return;
	asked++;
	if (fork() == 0) {
		while (serve_stream(fd))
			;
		_exit(0);
	}
	close(fd);
}

static int open_socket(const char *address, const char *port, int type)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
	const int on = 1, room = 4 << 20;
	int fd;

	if (inet_pton(AF_INET, address, &sin.sin_addr) != 1)
		errx(2, "%s: no IPv4 address", address);
	fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		err(1, "bind %s port %s", address, port);
	if (type == SOCK_STREAM && listen(fd, 128))
		err(1, "listen");
	return fd;
}

int main(int argc, char **argv)
{
	const char *port = argc > 2 ? argv[2] : "53";
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };

	if (argc < 2)
		errx(2, "usage: liar ADDRESS [PORT]");
	if (getenv("RAI_LIAR_TTL"))
		usual_ttl = (uint32_t)strtoul(getenv("RAI_LIAR_TTL"), NULL, 10);
	signal(SIGCHLD, SIG_IGN);
	fds[0].fd = open_socket(argv[1], port, SOCK_DGRAM);
	elsewhere = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fds[1].fd = open_socket(argv[1], port, SOCK_STREAM);
	for (;;) {
		int wait = -1;

		send_due(fds[0].fd);
		if (!TAILQ_EMPTY(&late))
			wait = (int)(TAILQ_FIRST(&late)->due_ms - now_ms());
		/* A due time passed between the two looks at the clock is no reason to sleep. */
		if (!TAILQ_EMPTY(&late) && wait < 0)
			wait = 0;
		if (poll(fds, 2, wait) < 0 && errno != EINTR)
			err(1, "poll");
		if (fds[0].revents)
			serve_udp(fds[0].fd);
		if (fds[1].revents)
			serve_tcp(fds[1].fd);
	}
}
