/* SPDX-License-Identifier: BSD-2-Clause */
/* The rai command: finds the verb and hands over to it. */
#include <argp.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char *argp_program_version = "rai " RAI_VERSION;

static const struct verb {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "resolve", "find the addresses of a host name, or of a service of the SA", cli_resolve },
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
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		choice->verb = verb_find(arg);
		if (!choice->verb)
			argp_error(state, "no such command: '%s'", arg);
		choice->first = state->next - 1;
		state->next = state->argc;	/* the rest is the verb's */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a command is missing, such as: rai resolve NAME");
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
	fputs("\n'rai COMMAND --help' says more about each.", out);
	fclose(out);
	return help;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Resolve host names and InfiniBand services to RDMA addresses.\v ",
		.help_filter = help_verbs,
	};
	struct choice choice = { 0 };
	char name[32];

	argp_err_exit_status = CLI_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice))
		return CLI_FAILED;
	snprintf(name, sizeof(name), "rai %s", choice.verb->name);
	argv[choice.first] = name;
	return choice.verb->run(argc - choice.first, argv + choice.first);
}
