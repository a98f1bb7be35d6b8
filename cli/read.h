/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a command line, checked: what makes no sense ends the process with a hint and CLI_USAGE. */
#pragma once

#include <argp.h>
#include <rdma/rai.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -h is --help in every command: an entry of its options, and what to do when it comes. */
#define CLI_OPTION_HELP { NULL, 'h', NULL, OPTION_HIDDEN, "", 0 }

void cli_help(struct argp_state *state);

/* Whether it is UTF-8 without control characters. */
bool cli_is_word(const char *text);

/* UTF-8 without control characters, 1 to max bytes. */
const char *cli_read_word(struct argp_state *state, const char *what, const char *arg, size_t max);

bool cli_is_duration(const char *text);	/* cli_read_duration() takes it */

/* Milliseconds of "5", "0.5", "5s" or "500ms"; rounded up, so that only 0 is 0. */
uint32_t cli_read_duration(struct argp_state *state, const char *arg);

/* Whether it may be a host name or address: "a:1", "[::1]" and "http://a" are not, and why says so with what to write
 * instead, behind the word of the command that stands before it. */
enum { CLI_NODE_WHY = 400 };
bool cli_is_node(const char *node, const char *before, char *why, size_t size);

/* A host name or address. */
const char *cli_read_node(struct argp_state *state, const char *arg, size_t max);

/* A port number or the name of a service. */
const char *cli_read_service(struct argp_state *state, const char *arg, size_t max);

bool cli_is_number(const char *text);	/* digits alone */

/* NODE and SERVICE, NULL where not given, as --srv takes them: whether they make sense, and why says what does, behind
 * the command that stands before it. */
bool cli_is_srv(const char *node, const char *service, const char *before, char *why, size_t size);
void cli_check_srv(struct argp_state *state, const char *node, const char *service);

bool cli_is_gid(const char *text);

/* Whether the SA may have it: a name of 63 bytes at most, or a number of 64 bits. */
bool cli_is_sa_service(const char *text, char *why, size_t size);

/* AF_INET of "inet", AF_INET6 of "inet6", and where those of GIDs are taken, too, AF_IB of "ib". */
int cli_read_family(struct argp_state *state, const char *arg, bool ib);

/* Whether NODE and SERVICE of a line, of the SA one word that is SERVICE, make a question, as those of a command line
 * do; why not. */
bool cli_is_question(const struct rdma_addrinfo *hints, const char *node, const char *service, char *why, size_t size);

/* All of the command line of a verb that takes --json and nothing else; doc: as in struct argp. */
bool cli_read_json_only(int argc, char **argv, const char *doc, bool *ret_json);

/* Of names the one that word was meant to be, with two letters wrong at most; NULL where none is near. */
struct cli_closest {
	const char *word, *name;
	unsigned distance;	/* of name */
};
void cli_closest_try(struct cli_closest *closest, const char *name);

/* At ARGP_KEY_INIT: a misspelt long option that is near one there is ends the process with that as a hint; others argp
 * refuses by itself. Options may come behind arguments, or not. */
void cli_check_options(struct argp_state *state, const struct argp_option *options, bool anywhere);
