/* SPDX-License-Identifier: BSD-2-Clause */
/* The rai command: finds the verb and hands over to it. */
#include <argp.h>
#include <fcntl.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "environment.h"
#include "read.h"

const char *argp_program_version = "rai " RAI_VERSION;

static const struct verb {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "doctor", "look whether this host has what RDMA and names need", cli_doctor },
	{ "explain", "tell step by step how a name or service resolves", cli_explain },
	{ "lab", "run a command in a simulated fabric, or in guests with RDMA", cli_lab },
	{ "ping", "send messages to another host by RDMA, and time each step", cli_ping },
	{ "ports", "list the RDMA ports of this host, and what resolves through each", cli_ports },
	{ "resolve", "find the addresses of a host name, or of a service of the SA", cli_resolve },
	{ "run", "run a program with this librdmacm", cli_run },
	{ "service", "publish, list, remove and follow services of the SA", cli_service },
	{ "stats", "print the counters of running processes", cli_stats },
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

struct choice {
	const struct verb *verb;
	int first;		/* index of the verb in argv */
	bool help;
};

static const char *verb_closest(const char *name)
{
	struct cli_closest closest = { .word = name };

	for (size_t i = 0; i < VERBS; i++)
		cli_closest_try(&closest, verbs[i].name);
	return closest.name;
}

static const struct verb *verb_read(struct argp_state *state, const char *name)
{
	const struct verb *verb = verb_find(name);
	const char *closest = verb ? NULL : verb_closest(name);

	if (closest)
		argp_error(state, "no such command: '%s'; did you mean '%s'?", name, closest);
	else if (!verb && strpbrk(name, ".:"))
		argp_error(state, "no such command: '%s'; for a host's addresses: rai resolve %s", name, name);
	else if (!verb)
		argp_error(state, "no such command: '%s'; 'rai help' lists them", name);
	return verb;
}

static bool asks_for_help(const char *arg)
{
	return strcmp(arg, "help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "-?") == 0 ||
	       strcmp(arg, "--help") == 0;
}

static void read_command(struct argp_state *state, struct choice *choice, const char *arg)
{
	choice->first = state->next - 1;
	choice->help = strcmp(arg, "help") == 0;
	if (choice->help && (state->next == state->argc || asks_for_help(state->argv[state->next])))
		cli_help(state);
	choice->verb = verb_read(state, choice->help ? state->argv[state->next] : arg);
	state->next = state->argc;	/* the rest is the verb's */
}

static const struct argp_option options[] = { CLI_OPTION_HELP, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, false);
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		read_command(state, choice, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		fputs("rai: a command is missing\n", stderr);
		argp_state_help(state, stderr,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_verbs(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return NULL;
	fputs("Commands:\n", out);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\n'rai help COMMAND' says more about each.", out);
	fclose(out);
	return help;
}

/* Where stdin, stdout or stderr is closed, a descriptor that is opened later would take its place, and be read from or
 * written to. What takes it here can be neither, and is no command's of rai run. */
static void keep_places(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) != fd)
			_exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Resolve host names and InfiniBand services to RDMA addresses.\v ",
		.help_filter = help_verbs,
	};
	struct choice choice = { 0 };
	char name[32], own[] = "rai";

	keep_places();
	argp_err_exit_status = CLI_USAGE;
	/* getopt names the path otherwise, and argp the file. */
	if (argc > 0)
		argv[0] = own;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice))
		return CLI_FAILED;
	snprintf(name, sizeof(name), "rai %s", choice.verb->name);
	if (choice.help)
		return choice.verb->run(2, (char *[]) { name, (char[]) { "--help" }, NULL });
	cli_environment_check();
	argv[choice.first] = name;
	return choice.verb->run(argc - choice.first, argv + choice.first);
}
