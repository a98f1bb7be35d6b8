/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the library's own source of names, and getaddrinfo(). */
#include "asker.h"

#include <arpa/inet.h>
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct rcm_loop loop;
static struct rcm_dns *dns;

uint64_t asker_now_ms(void)
{
	return rcm_clock_now() / RCM_NS_PER_MS;
}

void asker_open(void)
{
	if (access("/etc/rai-dns-world", F_OK)) {
		warnx("not in the test world, skipped");
		exit(77);
	}
	if (rcm_loop_init(&loop) || rcm_dns_system.open(&loop, &dns))
		errx(1, "can't open");
}

void asker_close(void)
{
	rcm_dns_system.close(dns);
	rcm_loop_done(&loop);
}

static void append(struct outcome *outcome, const char *word)
{
	size_t len = strlen(outcome->text);

	snprintf(outcome->text + len, sizeof(outcome->text) - len, "%s%s", len ? " " : "", word);
}

static void append_address(struct outcome *outcome, const struct sockaddr *sa)
{
	char text[INET6_ADDRSTRLEN + 32];
	socklen_t len = sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

	if (getnameinfo(sa, len, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		strcpy(text, "?");
	append(outcome, text);
	outcome->count++;
}

static void done(void *arg, const struct rcm_dns_answer *answer)
{
	struct outcome *outcome = arg;

	outcome->done = true;
	outcome->took_ms = asker_now_ms() - outcome->started;
	outcome->status = answer->status;
	outcome->code = answer->code;
	outcome->ttl = answer->ttl;
	snprintf(outcome->why, sizeof(outcome->why), "%s", answer->text ? answer->text : "");
	if (answer->status) {
		append(outcome, gai_strerror(answer->code));
		return;
	}
	append(outcome, answer->canonname ? answer->canonname : "-");
	for (unsigned i = 0; i < answer->count; i++)
		append_address(outcome, &answer->addresses[i].sa);
}

void asker_start(struct outcome *outcome, const char *name, int family, uint32_t timeout_ms)
{
	const struct rcm_dns_query query = { .name = name, .family = family, .timeout_ms = timeout_ms };
	int status;

	memset(outcome, 0, sizeof(*outcome));
	outcome->started = asker_now_ms();
	status = rcm_dns_system.start(dns, &query, done, outcome, &outcome->lookup);
	if (!status)
		return;
	outcome->done = true;
	outcome->status = status;
	append(outcome, "not started");
}

void asker_cancel(struct outcome *outcome)
{
	rcm_dns_system.cancel(dns, outcome->lookup);
}

void asker_turn(unsigned ms)
{
	if (rcm_loop_turn(&loop, (int)ms))
		errx(1, "loop");
}

void asker_wait(struct outcome *outcome, unsigned max_ms)
{
	uint64_t end = asker_now_ms() + max_ms, now;

	while (!outcome->done && (now = asker_now_ms()) < end)
		asker_turn((unsigned)(end - now));
}

void asker_ask(struct outcome *outcome, const char *name, int family)
{
	asker_start(outcome, name, family, 0);
	asker_wait(outcome, 60000);
}

void asker_libc(struct outcome *outcome, const char *name, int family)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };
	struct addrinfo *list = NULL;

	memset(outcome, 0, sizeof(*outcome));
	outcome->started = asker_now_ms();
	outcome->code = getaddrinfo(name, NULL, &hints, &list);
	outcome->took_ms = asker_now_ms() - outcome->started;
	outcome->done = true;
	append(outcome, outcome->code ? gai_strerror(outcome->code) : list->ai_canonname);
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
		append_address(outcome, ai->ai_addr);
	if (list)
		freeaddrinfo(list);
}

void asker_write(const char *path, const char *text)
{
	char temporary[256];
	FILE *file;

	if (!text) {
		unlink(path);
		return;
	}
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) || rename(temporary, path))
		err(1, "%s", path);
}
