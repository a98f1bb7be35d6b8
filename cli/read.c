/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a command line, checked, with a hint for what people write instead. */
#include "read.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli.h"
#include "out.h"

#define SECONDS_MAX (UINT32_MAX / 1000)

enum {
	DISTANCE_MAX = 31,
	PORT_MAX = 65535,
	NODE_MAX = 253,		/* as rdma_resolve_addrinfo(3) has them */
	SERVICE_NAME_MAX = 63,
	TYPO_MAX = 2,		/* letters that may be wrong */
};

void cli_help(struct argp_state *state)
{
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
}

bool cli_is_word(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			return false;
	return cli_is_utf8(text);
}

const char *cli_read_word(struct argp_state *state, const char *what, const char *arg, size_t max)
{
	if (!*arg)
		argp_error(state, "%s is empty", what);
	if (strlen(arg) > max)
		argp_error(state, "%s is longer than %zu bytes", what, max);
	for (const unsigned char *c = (const unsigned char *)arg; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			argp_error(state, "%s has a control character in it", what);
	if (!cli_is_utf8(arg))
		argp_error(state, "%s is not UTF-8", what);
	return arg;
}

/* Not a number where it is none. */
static double duration_ms(const char *arg)
{
	char *end;
	double ms = strtod(arg, &end);

	if (strcmp(end, "ms") != 0)
		ms *= 1000;
	ms = ceil(ms);	/* up: what isn't 0 must not become "never" */
	if (end == arg || (*end && strcmp(end, "s") != 0 && strcmp(end, "ms") != 0) ||
	    !(ms >= 0 && ms <= SECONDS_MAX * 1000.0))
		return NAN;
	return ms;
}

bool cli_is_duration(const char *text)
{
	return !isnan(duration_ms(text));
}

uint32_t cli_read_duration(struct argp_state *state, const char *arg)
{
	double ms = duration_ms(arg);

	if (isnan(ms))
		argp_error(state, "no number of seconds from 0 to %u: '%s' (5, 0.5, 5s and 500ms are)", SECONDS_MAX,
			   arg);
	return (uint32_t)ms;
}

bool cli_is_node(const char *node, const char *before, char *why, size_t size)
{
	const char *colon = strrchr(node, ':'), *end = *node == '[' ? strrchr(node, ']') : NULL;

	if (strstr(node, "://"))
		snprintf(why, size, "NODE is a host name or an address, not a URL: '%s'", node);
	else if (end && end[1] == 0)
		snprintf(why, size, "an address stands without brackets: %s%.*s", before, (int)(end - node) - 1,
			 node + 1);
	else if (end && end + 1 == colon)
		snprintf(why, size, "a port goes after a blank: %s%.*s %s", before, (int)(end - node) - 1, node + 1,
			 colon + 1);
	else if (colon && colon == strchr(node, ':') && colon > node && colon[1])
		snprintf(why, size, "a port goes after a blank: %s%.*s %s", before, (int)(colon - node), node,
			 colon + 1);
	else
		return true;
	return false;
}

const char *cli_read_node(struct argp_state *state, const char *arg, size_t max)
{
	char before[CLI_NAME_MAX + 1], why[CLI_NODE_WHY];

	cli_read_word(state, "NODE", arg, max);
	snprintf(before, sizeof(before), "%s ", state->name);
	if (!cli_is_node(arg, before, why, sizeof(why)))
		argp_error(state, "%s", why);
	return arg;
}

bool cli_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == 0;
}

/* Of a number whether it is one of a port; any name is. */
static bool is_port(const char *text)
{
	return !cli_is_number(text) || strtoul(text, NULL, 10) <= PORT_MAX;
}

const char *cli_read_service(struct argp_state *state, const char *arg, size_t max)
{
	cli_read_word(state, "SERVICE", arg, max);
	if (!is_port(arg))
		argp_error(state, "a port is a number up to %d: '%s'", PORT_MAX, arg);
	return arg;
}

bool cli_is_gid(const char *text)
{
	return inet_pton(AF_INET6, text, &(struct in6_addr) { 0 }) == 1;
}

static bool is_address(const char *text)
{
	return inet_pton(AF_INET, text, &(struct in_addr) { 0 }) == 1 || cli_is_gid(text);
}

bool cli_is_sa_service(const char *text, char *why, size_t size)
{
	char *end;

	errno = 0;
	if (strlen(text) > SERVICE_NAME_MAX)
		snprintf(why, size, "SERVICE is longer than %d bytes", SERVICE_NAME_MAX);
	else if (isdigit((unsigned char)*text) && strtoull(text, &end, 0) == ULLONG_MAX && errno == ERANGE && !*end)
		snprintf(why, size, "SERVICE is a number beyond 64 bits: '%s'", text);
	else
		return true;
	return false;
}

bool cli_is_srv(const char *node, const char *service, const char *before, char *why, size_t size)
{
	if (!node)
		snprintf(why, size, "NODE is missing, a domain: %s--srv example.com nfs", before);
	else if (is_address(node))
		snprintf(why, size, "NODE is a domain, and an address has no SRV records: '%s'", node);
	else if (service && *node == '_')
		snprintf(why, size, "NODE is a whole name, with the service in it: %s--srv %s", before, node);
	else if (service && *service != '_' && strchr(service, '.'))
		snprintf(why, size, "a SERVICE with its protocol begins with '_': _nfs._udp");
	else
		return true;
	return false;
}

void cli_check_srv(struct argp_state *state, const char *node, const char *service)
{
	char before[CLI_NAME_MAX + 1], why[CLI_NODE_WHY];

	snprintf(before, sizeof(before), "%s ", state->name);
	if (!cli_is_srv(node, service, before, why, sizeof(why)))
		argp_error(state, "%s", why);
}

bool cli_is_question(const struct rdma_addrinfo *hints, const char *node, const char *service, char *why, size_t size)
{
	if (strlen(node) > NODE_MAX || (service && strlen(service) > NODE_MAX))
		snprintf(why, size, "longer than %d bytes", NODE_MAX);
	else if (!cli_is_word(node) || (service && !cli_is_word(service)))
		snprintf(why, size, "not UTF-8, or a control character in it");
	else if (hints->ai_flags & RAI_SA)
		return cli_is_sa_service(node, why, size);
	else if (!cli_is_node(node, "", why, size))
		return false;
	else if (hints->ai_flags & RAI_SRV && !cli_is_srv(node, service, "", why, size))
		return false;
	else if (hints->ai_family == AF_IB && !cli_is_gid(node))
		snprintf(why, size, "NODE is no GID: '%s'", node);
	else if (service && !is_port(service))
		snprintf(why, size, "a port is a number up to %d: '%s'", PORT_MAX, service);
	else
		return true;
	return false;
}

int cli_read_family(struct argp_state *state, const char *arg, bool ib)
{
	if (strcmp(arg, "inet") == 0)
		return AF_INET;
	if (strcmp(arg, "inet6") == 0)
		return AF_INET6;
	if (ib && strcmp(arg, "ib") == 0)
		return AF_IB;
	argp_error(state, "no such family: '%s' (%s)", arg, ib ? "inet, inet6 or ib" : "inet or inet6");
	return AF_UNSPEC;
}

static const struct argp_option json_only[] = {
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 }, CLI_OPTION_HELP, { 0 }
};

static error_t json_only_parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, json_only, true);
		return 0;
	case 'j':
		*json = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "it takes no argument: '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool cli_read_json_only(int argc, char **argv, const char *doc, bool *ret_json)
{
	const struct argp argp = { .options = json_only, .parser = json_only_parse, .doc = doc };

	return argp_parse(&argp, argc, argv, 0, NULL, ret_json) == 0;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* How many letters to change, insert, drop or swap with their neighbour; texts over 31 letters are far from any. */
static unsigned distance(const char *a, const char *b)
{
	unsigned cost[DISTANCE_MAX + 1][DISTANCE_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > DISTANCE_MAX || nb > DISTANCE_MAX)
		return UINT_MAX;
	for (unsigned i = 0; i <= na; i++)
		for (unsigned j = 0; j <= nb; j++) {
			if (i == 0 || j == 0) {
				cost[i][j] = i + j;
				continue;
			}
			cost[i][j] = min3(cost[i - 1][j] + 1, cost[i][j - 1] + 1,
					  cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    cost[i - 2][j - 2] + 1 < cost[i][j])
				cost[i][j] = cost[i - 2][j - 2] + 1;
		}
	return cost[na][nb];
}

void cli_closest_try(struct cli_closest *closest, const char *name)
{
	unsigned found = distance(closest->word, name);

	if (found > TYPO_MAX || found >= strlen(name) || (closest->name && found >= closest->distance))
		return;
	closest->name = name;
	closest->distance = found;
}

/* Does the word before take the next one, as its argument? */
static bool takes_next(const struct argp_option *options, const char *word)
{
	for (; *word; word++)
		for (const struct argp_option *o = options; o->name || o->key; o++)
			if (o->key == *word && o->arg)
				return !word[1];
	return false;
}

/* The same of a long option; refuses one that is near another. */
static bool check_long(struct argp_state *state, const struct argp_option *options, const char *word)
{
	static const char *const of_argp[] = { "help", "usage", "version" };
	const char *end = strchrnul(word, '=');
	char name[DISTANCE_MAX + 1];
	struct cli_closest closest = { .word = name };
	size_t len = (size_t)(end - word);

	if (len >= sizeof(name))
		return false;
	memcpy(name, word, len);
	name[len] = 0;
	for (size_t i = 0; i < sizeof(of_argp) / sizeof(of_argp[0]); i++) {
		if (strncmp(of_argp[i], name, len) == 0)
			return false;
		cli_closest_try(&closest, of_argp[i]);
	}
	for (const struct argp_option *o = options; o->name || o->key; o++) {
		if (!o->name)
			continue;
		if (strncmp(o->name, name, len) == 0)
			return o->arg && !*end;
		cli_closest_try(&closest, o->name);
	}
	if (closest.name)
		argp_error(state, "unrecognized option '--%s'; did you mean '--%s'?", name, closest.name);
	return false;
}

void cli_check_options(struct argp_state *state, const struct argp_option *options, bool anywhere)
{
	state->name = state->argv[0];	/* argp sets it only later */
	for (int i = 1; i < state->argc; i++) {
		const char *word = state->argv[i];
		bool next = false;

		if (strcmp(word, "--") == 0)
			return;
		if (strncmp(word, "--", 2) == 0)
			next = check_long(state, options, word + 2);
		else if (word[0] == '-' && word[1])
			next = takes_next(options, word + 1);
		else if (!anywhere)
			return;
		i += next;
	}
}
