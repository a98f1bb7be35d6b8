/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks one name server directly, to see whether it answers at all. */
#include "nameserver.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	ID = 2, QUESTION = 17,	/* octets: the header, the root's name, type and class */
	SENDS = 2,
	ANSWER_ROOM = 1500,
};

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Takes what comes until the answer does, or the time is over: its code, or -errno. */
static int wait_answer(int fd, const uint8_t *question, int64_t until)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	uint8_t answer[ANSWER_ROOM];

	for (;;) {
		int64_t left = until - now_us();
		ssize_t len;
		int ready;

		if (left <= 0)
			return -ETIMEDOUT;
		ready = poll(&pollfd, 1, (int)((left + 999) / 1000));
		if (ready == 0 || (ready < 0 && errno == EINTR))
			continue;
		len = ready < 0 ? -1 : recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
		if (len < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (len >= HFIXEDSZ && memcmp(answer, question, ID) == 0 && answer[2] & 0x80)
			return answer[3] & 0xf;
	}
}

int cli_nameserver_ask(const struct cli_nameserver *server, int timeout_ms, int64_t *ret_us)
{
	/* Recursion desired, one question: ".", NS, IN. */
	uint8_t question[QUESTION] = { 0, 0, 1, 0, 0, 1, [HFIXEDSZ] = 0, 0, ns_t_ns, 0, ns_c_in };
	int64_t start = now_us();
	int fd, rc = -ETIMEDOUT;

	*ret_us = -1;
	if (getrandom(question, ID, GRND_NONBLOCK) != ID)
		return -EAGAIN;
	fd = socket(server->address.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, &server->address.sa, server->len) < 0)
		rc = -errno;
	for (int i = 1; rc == -ETIMEDOUT && i <= SENDS; i++) {
		if (send(fd, question, sizeof(question), 0) < 0)
			rc = -errno;
		else
			rc = wait_answer(fd, question, start + (int64_t)timeout_ms * 1000 * i / SENDS);
	}
	*ret_us = now_us() - start;
	close(fd);
	return rc;
}

void cli_nameserver_finding(const struct cli_nameserver *server, int timeout_ms, struct cli_finding *ret_finding)
{
	static const char *const codes[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };
	int64_t took_us;
	int rc = cli_nameserver_ask(server, timeout_ms, &took_us);

	if (rc == ns_r_noerror || rc == ns_r_nxdomain)
		cli_finding_set(ret_finding, CLI_OK, "%s answers", server->text);
	else if (rc >= 0)
		cli_finding_set(ret_finding, CLI_WARNING, "%s answers, but to the question for the root's name servers "
				"with %s: it may not look names up for this host", server->text,
				(size_t)rc < sizeof(codes) / sizeof(codes[0]) ? codes[rc] : "an unknown code");
	else if (rc == -ETIMEDOUT)
		cli_finding_set(ret_finding, CLI_BAD, "%s: no answer within %g s", server->text, timeout_ms / 1000.0);
	else
		cli_finding_set(ret_finding, CLI_BAD, "%s can't be reached: %s", server->text, strerror(-rc));
	if (rc == -ENETUNREACH || rc == -EHOSTUNREACH)
		cli_finding_mend(ret_finding, "give this host a route to it, or take it out of /etc/resolv.conf");
	else if (rc < 0)
		cli_finding_mend(ret_finding, "start it, open port 53 (UDP and TCP) to it, or take it out of "
				 "/etc/resolv.conf");
	ret_finding->time_us = took_us;
}
