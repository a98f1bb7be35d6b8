/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the library's own source of names, and getaddrinfo(). */
#include "asker.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static struct rcm_loop loop;
static struct rcm_dns *dns;
static bool settled;
static int settle_status;

uint64_t asker_now_ms(void)
{
	return rcm_clock_now() / RCM_NS_PER_MS;
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

static void ask_libc(struct outcome *outcome, const char *name, int family)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };
	struct addrinfo *list = NULL;

	outcome->code = getaddrinfo(name, NULL, &hints, &list);
	append(outcome, outcome->code ? gai_strerror(outcome->code) : list->ai_canonname);
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
		append_address(outcome, ai->ai_addr);
	if (list)
		freeaddrinfo(list);
}

struct question {
	int family;
	char name[512];
};

/* The whole life of the process that asker_libc() talks to. */
static void answer_as_libc(int fd)
{
	static struct outcome outcome;
	struct question question;

	while (recv(fd, &question, sizeof(question), 0) == sizeof(question)) {
		memset(&outcome, 0, sizeof(outcome));
		ask_libc(&outcome, question.name, question.family);
		if (send(fd, &outcome, sizeof(outcome), 0) != sizeof(outcome))
			err(1, "send");
	}
	exit(0);
}

void asker_main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--libc"))
		answer_as_libc(atoi(argv[2]));
	asker_open();
}

static void dns_changed(void *arg)
{
	(void)arg;
}

static void dns_settled(void *arg, int status)
{
	(void)arg;
	settled = true;
	settle_status = status;
}

/* As the engine does before it starts a name. */
static int settle(void)
{
	int ret = rcm_dns_system.settle(dns);

	if (ret)
		return ret < 0 ? ret : 0;
	settled = false;
	while (!settled)
		asker_turn(1000);
	return settle_status;
}

void asker_open(void)
{
	const struct rcm_dns_owner owner = { .changed = dns_changed, .settled = dns_settled };

	if (access("/etc/rai-dns-world", F_OK)) {
		warnx("not in the test world, skipped");
		exit(77);
	}
	if (rcm_loop_init(&loop) || rcm_dns_system.open(&loop, &owner, &dns))
		errx(1, "can't open");
}

static int libc_fd = -1;

static void start_libc(void)
{
	char fd_text[16];
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		err(1, "socketpair");
	if (!fork()) {
		close(fds[0]);
		snprintf(fd_text, sizeof(fd_text), "%d", fds[1]);
		execl("/proc/self/exe", "asker", "--libc", fd_text, NULL);
		_exit(127);
	}
	close(fds[1]);
	libc_fd = fds[0];
}

static void stop_libc(void)
{
	if (libc_fd < 0)
		return;
	close(libc_fd);
	libc_fd = -1;
	wait(NULL);
}

void asker_close(void)
{
	stop_libc();
	rcm_dns_system.close(dns);
	rcm_loop_done(&loop);
}

static void done(void *arg, const struct rcm_dns_answer *answer)
{
	struct outcome *outcome = arg;

	outcome->done = true;
	outcome->took_ms = asker_now_ms() - outcome->started;
	outcome->status = answer->status;
	outcome->code = answer->code;
	outcome->ttl = answer->ttl;
	outcome->missing = answer->missing;
	snprintf(outcome->why, sizeof(outcome->why), "%s", answer->text ? answer->text : "");
	if (answer->status) {
		append(outcome, gai_strerror(answer->code));
		return;
	}
	append(outcome, answer->canonname ? answer->canonname : "-");
	for (unsigned i = 0; i < answer->count; i++)
		append_address(outcome, &answer->addresses[i].sa);
}

void asker_start(struct outcome *outcome, const char *name, int family)
{
	const struct rcm_dns_query query = { .name = outcome->name, .family = family };
	int status;

	memset(outcome, 0, sizeof(*outcome));
	snprintf(outcome->name, sizeof(outcome->name), "%s", name);
	outcome->started = asker_now_ms();
	status = settle();
	if (!status)
		status = rcm_dns_system.start(dns, &query, done, outcome, &outcome->lookup);
	if (!status)
		return;
	outcome->done = true;
	outcome->status = status;
	append(outcome, "not started");
}

bool asker_partial(struct outcome *outcome, struct outcome *part)
{
	return rcm_dns_system.partial(dns, outcome->lookup, done, part);
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
	asker_start(outcome, name, family);
	asker_wait(outcome, 60000);
}

/* In a process of its own, and a new one for each configuration: glibc doesn't take up every change. */
void asker_libc(struct outcome *outcome, const char *name, int family)
{
	struct question question = { .family = family };
	ssize_t n;

	if (libc_fd < 0)
		start_libc();
	snprintf(question.name, sizeof(question.name), "%s", name);
	if (send(libc_fd, &question, sizeof(question), 0) != sizeof(question))
		errx(1, "can't ask the child");
	/* Our own side goes on meanwhile, as the library's thread does: it closes what is idle. */
	while ((n = recv(libc_fd, outcome, sizeof(*outcome), MSG_DONTWAIT)) < 0 && errno == EAGAIN)
		asker_turn(5);
	if (n != sizeof(*outcome))
		errx(1, "no answer from the child");
	outcome->done = true;
}

void asker_write(const char *path, const char *text)
{
	char temporary[256];
	FILE *file;

	stop_libc();
	if (!text) {
		unlink(path);
		return;
	}
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) || rename(temporary, path))
		err(1, "%s", path);
}

/*
 * Two exceptions. An alias of a name without that family: glibc says that it doesn't exist, though it does. A server
 * that refuses: glibc says so or so, depending on the transport.
 */
bool asker_is_same(const struct outcome *ours, const struct outcome *theirs)
{
	return !strcmp(ours->text, theirs->text) || (ours->code == EAI_NODATA && theirs->code == EAI_NONAME) ||
	       (ours->status == -EIO && theirs->code);
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void asker_sort(struct outcome *outcome)
{
	char text[OUTCOME_TEXT], *words[4097], *rest, *word;
	size_t count = 0;

	strcpy(text, outcome->text);
	for (word = strtok_r(text, " ", &rest); word && count < 4097; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	qsort(words, count, sizeof(*words), compare_words);
	outcome->text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		append(outcome, words[i]);
}
