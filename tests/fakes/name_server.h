/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers in the test itself: UDP and TCP sockets on loopback, on a clock that stands still. What is sent to them is
 * there at once; what they say is decided by the test, question by question. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns_message.h"
#include "loop/loop.h"

enum { NAME_SERVERS = 3 };

/* A question that came to a server. */
struct name_server_question {
	unsigned server;
	bool tcp;
	int fd;				/* TCP: the connection */
	uint16_t port;			/* it came from */
	uint16_t id;
	int type;
	bool edns, ad;
	char name[256];
	size_t len;
	uint8_t bytes[512];
};

/* Opens and closes all, with the loop. */
void name_server_open(struct rcm_loop *loop);
void name_server_close(void);

/* Server index goes away or comes back, by UDP or by TCP: whoever asks is refused. */
void name_server_listen(unsigned server, bool tcp, bool on);

/* Lines of resolv.conf can't name ports: the configuration's servers are put there by this. */
struct rcm_resolv;
struct rcm_resolv *name_server_resolv(unsigned servers, const char *options);

/* The next question to that server, in ret_question; false: there is none. Turns the loop for TCP. */
bool name_server_take(unsigned server, bool tcp, struct name_server_question *ret_question);

/* Fails unless no server has a question left. */
void name_server_assert_quiet(void);

/* Begins an answer to it; and sends it, as it is then. */
void name_server_begin(struct dns_message *message, const struct name_server_question *question, int rcode);
void name_server_send(const struct name_server_question *question, const struct dns_message *message);

/* Both: the rcode alone, or one address of the wanted family. */
void name_server_fail(const struct name_server_question *question, int rcode);
void name_server_answer(const struct name_server_question *question);

/* The TCP connection ends here. */
void name_server_hang_up(const struct name_server_question *question);
