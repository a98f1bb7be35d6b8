/* SPDX-License-Identifier: BSD-2-Clause */
/* rai resolve: reads the command line, asks, prints, and says by its exit status how it went. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bulk.h"
#include "cli.h"
#include "host.h"
#include "read.h"
#include "screen.h"
#include "steps.h"
#include "words.h"

enum {
	NODE_MAX = 253,		/* as rdma_resolve_addrinfo(3) has it */
	WATCH_MS = 2000,	/* between two rounds, unless told otherwise, */
	WATCH_MIN_MS = 100,	/* and at least */
	OPTION_SRV = 256,	/* it has no letter */
};

struct resolve {
	const char *node, *service, *sa, *port;
	bool srv, json, passive, brief, time;
	const char *file;	/* many: of its lines; "-": standard input */
	bool unordered;
	unsigned window;
	uint32_t watch_ms;
	bool watch_bare;	/* --watch without a TIME */
	int family;
	uint32_t timeout_ms;
	bool has_timeout;
};

static const struct argp_option options[] = {
	{ "sa", 's', "SERVICE", 0, "Ask the InfiniBand SA for the service records of SERVICE: a name, or a number "
	  "in C notation, which is a service id", 0 },
	{ "port", 'p', "PORT", 0, "With --sa: ask through this port only, DEVICE/PORT (mlx5_0/1) or its GID; "
	  "otherwise through every active InfiniBand port", 0 },
	{ "srv", OPTION_SRV, NULL, 0, "Ask name servers for the SRV records of SERVICE in the domain NODE, by tcp; "
	  "_nfs._udp names another protocol. Without SERVICE, NODE is the whole name: _nfs._tcp.example.com", 0 },
	{ "family", 'f', "FAMILY", 0, "Only addresses of inet or inet6; ib reads NODE as a GID", 0 },
	{ "passive", 'P', NULL, 0, "Addresses to listen at; with '' as NODE the wildcard ones", 0 },
	{ "timeout", 't', "TIME", 0, "Give up after so long, in seconds (5, 0.5, 5s) or milliseconds (500ms), 0 for "
	  "never; otherwise names take as long as resolv.conf says, and the SA 4 seconds", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	{ "short", 'S', NULL, 0, "Print the addresses alone, one a line", 0 },
	{ "file", 'F', "FILE", 0, "Resolve many: each line of FILE is a NODE and maybe a SERVICE, or with '--sa -' a "
	  "SERVICE; '-' is the standard input, as it is for a NODE that is '-'", 0 },
	{ "unordered", 'U', NULL, 0, "Of many: print each as it comes, not in the order of the lines", 0 },
	{ "window", 'W', "N", 0, "Of many: so many at a time, 1 to 4096; otherwise 1000", 0 },
	{ "watch", 'w', "TIME", OPTION_ARG_OPTIONAL, "Resolve again every 2 seconds, or TIME, until stopped, and print "
	  "what changes", 0 },
	{ "time", 'T', NULL, 0, "Tell on standard error how long it took", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

/* A number is a service id, as rdma_resolve_addrinfo(3) has it. */
static const char *read_sa_service(struct argp_state *state, const char *arg)
{
	char why[CLI_NODE_WHY];

	cli_read_word(state, "SERVICE", arg, NODE_MAX);
	if (!cli_is_sa_service(arg, why, sizeof(why)))
		argp_error(state, "%s", why);
	return arg;
}

static unsigned read_window(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long number = strtoul(arg, &end, 10);

	if (!isdigit((unsigned char)*arg) || *end || number < 1 || number > CLI_WINDOW_MAX)
		argp_error(state, "a window is a number from 1 to %d: '%s'", CLI_WINDOW_MAX, arg);
	return (unsigned)number;
}

static void read_watch(struct argp_state *state, struct resolve *r, const char *arg)
{
	r->watch_bare = !arg;
	r->watch_ms = arg ? cli_read_duration(state, arg) : WATCH_MS;
	if (r->watch_ms < WATCH_MIN_MS)
		argp_error(state, "what is watched is resolved again after 100ms at least: '%s'", arg);
}

/* What is for many alone, and what isn't. */
static void check_many(struct argp_state *state, const struct resolve *r)
{
	if (r->file && (r->node || r->service))
		argp_error(state, "NODE and SERVICE come from the lines of --file");
	if (r->file && r->sa && strcmp(r->sa, "-") != 0)
		argp_error(state, "the services come from the lines of --file: --sa -");
	if ((r->file || r->watch_ms) && (r->passive || r->time))
		argp_error(state, "--file and --watch go with neither --passive nor --time");
	if ((r->unordered || r->window) && !r->file)
		argp_error(state, "--unordered and --window are for --file");
}

static void check(struct argp_state *state, const struct resolve *r)
{
	check_many(state, r);
	if (r->watch_bare && r->node && r->service && cli_is_duration(r->node))
		argp_error(state, "'%s' was taken for NODE; a TIME goes right behind its option: rai resolve -w%s %s",
			   r->node, r->node, r->service);
	if (r->sa && r->node && *r->sa == '-')
		argp_error(state, "--sa takes no NODE; '%s' was taken for its SERVICE, which goes right behind it: "
			   "rai resolve --sa %s", r->sa, r->service ? "SERVICE" : r->node);
	if (r->sa && (r->node || r->service))
		argp_error(state, "--sa takes no NODE");
	if (r->sa && (r->family || r->passive))
		argp_error(state, "--sa goes with neither --family nor --passive");
	if (r->srv && r->sa)
		argp_error(state, "--srv asks name servers, --sa the SA: one of both");
	if (r->srv && (r->passive || r->family == AF_IB))
		argp_error(state, "--srv goes with neither --passive nor --family ib");
	if (r->srv && !r->file)
		cli_check_srv(state, r->node, r->service);
	if (r->brief && r->json)
		argp_error(state, "--short and --json exclude each other");
	if (r->port && !r->sa)
		argp_error(state, "--port is for --sa");
	if (!r->sa && !r->node && !r->passive && !r->file)
		argp_error(state, "NODE is missing");
	if (!r->sa && !r->node && !r->service && !r->file)
		argp_error(state, "--passive without NODE needs a SERVICE: rai resolve -P '' SERVICE");
	if (r->passive && r->node && !r->service && cli_is_number(r->node))
		argp_error(state, "%s is taken for a host; as a port: rai resolve -P '' %s", r->node, r->node);
	if (r->family == AF_IB && !r->node && !r->file)
		argp_error(state, "--family ib needs a NODE, a GID");
	if (r->family == AF_IB && r->node && !cli_is_gid(r->node))
		argp_error(state, "NODE is no GID: '%s'", r->node);
}

/* An empty NODE stands for none where --passive lets it be left out: "rai resolve -P '' 7471". */
static void read_argument(struct argp_state *state, struct resolve *r, const char *arg)
{
	if (state->arg_num == 0 && strcmp(arg, "-") == 0)
		r->file = arg;
	else if (state->arg_num == 0)
		r->node = r->passive && !*arg ? NULL : cli_read_node(state, arg, NODE_MAX);
	else if (state->arg_num == 1)
		r->service = cli_read_service(state, arg, NODE_MAX);
	else
		argp_error(state, "one NODE and one SERVICE at most");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct resolve *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 's':
		r->sa = read_sa_service(state, arg);
		return 0;
	case 'p':
		r->port = cli_read_word(state, "PORT", arg, NODE_MAX);
		return 0;
	case OPTION_SRV:
		r->srv = true;
		return 0;
	case 'f':
		r->family = cli_read_family(state, arg, true);
		return 0;
	case 't':
		r->timeout_ms = cli_read_duration(state, arg);
		r->has_timeout = true;
		return 0;
	case 'P':
		r->passive = true;
		return 0;
	case 'j':
		r->json = true;
		return 0;
	case 'S':
		r->brief = true;
		return 0;
	case 'F':
		r->file = arg;
		return 0;
	case 'U':
		r->unordered = true;
		return 0;
	case 'W':
		r->window = read_window(state, arg);
		return 0;
	case 'w':
		read_watch(state, r, arg);
		return 0;
	case 'T':
		r->time = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		read_argument(state, r, arg);
		return 0;
	case ARGP_KEY_END:
		if (r->sa && strcmp(r->sa, "-") == 0 && !r->file)
			r->file = r->sa;
		check(state, r);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Nothing could be asked: with --json the object says so like any other failure. */
static int fail_unasked(const struct resolve *r, const char *what, const char *why, int error)
{
	struct cli_answer answer = { .port = r->port, .status = error };
	const struct cli_report report = {
		.node = r->node, .service = r->sa ? r->sa : r->service, .sa = r->sa, .srv = r->srv,
		.answers = &answer, .count = 1,
		.took_us = -1,
	};

	cli_fail(what, why, CLI_FAILED);
	snprintf(answer.text, sizeof(answer.text), "%s: %s", what, why);
	return r->json ? cli_print_json(&report, CLI_FAILED) : CLI_FAILED;
}

/* Which ports to ask through: how many, or minus the exit status. */
static int choose_ports(const struct resolve *r, struct cli_port ports[CLI_PORTS_MAX])
{
	const char *what = r->port ? r->port : r->sa;
	char why[CLI_PORTS_WORDS];
	int rc = cli_ports_choose(r->port, ports, why);

	if (rc > 0)
		return rc;
	return rc == -EINVAL ? -cli_fail(what, why, CLI_USAGE) : -fail_unasked(r, what, why, rc);
}

static void question_fill(const struct resolve *r, struct cli_question *question)
{
	question->node = r->node;
	question->service = r->sa ? r->sa : r->service;
	question->deadline_ms = r->has_timeout ? &r->timeout_ms : NULL;
	question->hints.ai_flags = (r->sa ? RAI_SA : 0) | (r->srv ? RAI_SRV : 0) | (r->passive ? RAI_PASSIVE : 0) |
				   (r->family ? RAI_FAMILY : 0) | (r->family == AF_IB ? RAI_NUMERICHOST : 0);
	question->hints.ai_family = r->family;
	question->places = 1;
}

static enum cli_exit verdict(const struct cli_answer *answers, size_t count)
{
	enum cli_exit verdict = CLI_NOT_FOUND;

	for (size_t i = 0; i < count; i++) {
		if (answers[i].list)
			return CLI_FOUND;
		if (answers[i].status == -EINVAL || answers[i].status == -ENAMETOOLONG)
			verdict = CLI_USAGE;
		else if (answers[i].status != -ENOENT && answers[i].status != -ENODATA)
			verdict = CLI_FAILED;
	}
	return verdict;
}

/* What people write with letters that DNS has no form of its own for. */
static void hint_ascii(const char *asked, int status)
{
	const char *c = asked;

	while (*c && (unsigned char)*c < 0x80)
		c++;
	if (*c && status == -ENOENT)
		fprintf(stderr, "rai resolve: %s is not ASCII: DNS has such a name as one that begins with xn--, which "
			"idn2(1) prints\n", asked);
}

/* Why a name may be answered otherwise than expected, or not at all: a file that isn't as it should be. */
static void hint_files(const struct rdma_addrinfo *list)
{
	struct cli_nameserver servers[CLI_NAMESERVERS_MAX];
	struct cli_finding finding;

	cli_host_file("", "/etc/hosts", "its names were asked for elsewhere", &finding);
	if (finding.verdict == CLI_BAD)
		fprintf(stderr, "rai resolve: %s\n", finding.text);
	if (list)
		return;
	cli_host_nameservers("", servers, &finding);
	if (finding.verdict != CLI_OK)
		fprintf(stderr, "rai resolve: %s\n", finding.text);
}

/* An event's text says what was asked; a refusal's names the step only. */
static void complain(const char *asked, const struct cli_answer *answer)
{
	if (answer->list)
		return;
	fprintf(stderr, "rai resolve: %s%s", answer->port ? answer->port : "", answer->port ? ": " : "");
	if (answer->event)
		fprintf(stderr, "%s (%s, ", answer->text, answer->event);
	else
		fprintf(stderr, "%s: %s (", asked, answer->text);
	fprintf(stderr, "-%s)\n", cli_errno_word(answer->status));
	hint_ascii(asked, answer->status);
}

static int print(const struct resolve *r, const struct cli_question *question, const struct cli_answer *answers,
		 struct cli_steps *steps, int64_t took_us)
{
	const struct cli_report report = {
		.node = question->node, .service = question->service, .sa = r->sa, .srv = r->srv,
		.answers = answers, .count = question->places, .steps = steps, .took_us = took_us,
		.screen = cli_screen_width(stdout),
	};

	for (size_t i = 0; i < report.count; i++)
		complain(report.node ? report.node : report.service, &answers[i]);
	if (!r->sa)
		hint_files(answers[0].list);
	if (r->time)
		fprintf(stderr, "rai resolve: it took %.3f ms\n", (double)took_us / 1000);
	if (r->json)
		return cli_print_json(&report, (int)verdict(answers, report.count));
	if (r->brief)
		cli_print_short(stdout, &report);
	else
		cli_print_text(stdout, &report);
	return (int)verdict(answers, report.count);
}

static int resolve_many(const struct resolve *r, const struct cli_question *question)
{
	const struct cli_bulk bulk = {
		.file = r->file, .question = *question, .sa = r->sa, .json = r->json, .brief = r->brief,
		.unordered = r->unordered || r->watch_ms, .window = r->window ? r->window : CLI_WINDOW,
		.watch_ms = r->watch_ms,
	};

	if (question->places > 1)
		return cli_fail(r->sa, "many, and what is watched, go through one port: --port says which", CLI_USAGE);
	return cli_bulk(&bulk);
}

static int resolve(const struct resolve *r)
{
	struct cli_answer answers[CLI_PORTS_MAX] = { 0 };
	struct cli_port ports[CLI_PORTS_MAX];
	struct cli_question question = { 0 };
	struct cli_steps *steps;
	const char *step;
	int64_t start;
	int rc;

	question_fill(r, &question);
	if (r->sa) {
		rc = choose_ports(r, ports);
		if (rc < 0)
			return -rc;
		question.ports = ports;
		question.places = (size_t)rc;
	}
	if (r->file || r->watch_ms)
		return resolve_many(r, &question);
	steps = r->json ? cli_steps_watch() : NULL;
	start = cli_now_us();
	rc = cli_ask(&question, answers, &step);
	cli_steps_end();
	if (rc < 0)
		return fail_unasked(r, step, rc == -ENODEV ? CLI_NO_DEVICE : strerror(-rc), rc);
	rc = print(r, &question, answers, steps, cli_now_us() - start);
	cli_answers_free(answers, question.places);
	return rc;
}

int cli_resolve(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "NODE [SERVICE]\n--srv NODE [SERVICE]\n--sa SERVICE [--port PORT]\n"
			    "--file FILE [--sa - [--port PORT]]",
		.doc = "Resolve NODE as rdma_resolve_addrinfo(3) does, or a service: with --srv of a domain, with --sa "
		       "of the InfiniBand SA.\v"
		       "Exit status: 0 found, 1 not found, 2 wrong usage, 3 any other failure.",
	};
	struct resolve r = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &r))
		return CLI_FAILED;
	/* Names resolve where there is no RDMA device, too; a user that set the variable knows better. */
	if (setenv("RAI_DEVICELESS", "1", 0) < 0)
		return fail_unasked(&r, "environment", strerror(errno), -errno);
	return resolve(&r);
}
