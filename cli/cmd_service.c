/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service: finds its command, and hands over to it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "read.h"
#include "service.h"

static const struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "add", "publish a service at a port, and keep it published until stopped", cli_service_add },
	{ "list", "list the records that the SA has, by name, id, GID and P_Key", cli_service_list },
	{ "rm", "remove a record of this host, or with --force of any", cli_service_rm },
	{ "watch", "tell which records appear, change and vanish", cli_service_watch },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

struct choice {
	const struct command *command;
	int first;		/* index of the command in argv */
};

static const struct command *command_read(struct argp_state *state, const char *name)
{
	struct cli_closest closest = { .word = name };

	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		cli_closest_try(&closest, commands[i].name);
	}
	if (closest.name)
		argp_error(state, "no such command: 'service %s'; did you mean 'service %s'?", name, closest.name);
	else
		argp_error(state, "no such command: 'service %s'; there are add, list, rm and watch", name);
	return NULL;
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
		choice->first = state->next - 1;
		choice->command = command_read(state, arg);
		state->next = state->argc;	/* the rest is the command's */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a command is missing: add, list, rm or watch");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_commands(int key, const char *text, void *input)
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
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-7s %s\n", commands[i].name, commands[i].summary);
	fputs("\n'rai service COMMAND --help' says more about each.", out);
	fclose(out);
	return help;
}

int cli_service(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Publish services at the subnet administrator (SA) of an InfiniBand subnet, and look after "
		       "those that are there.\v ",
		.help_filter = help_commands,
	};
	struct choice choice = { 0 };
	char name[32];

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice))
		return CLI_FAILED;
	snprintf(name, sizeof(name), "rai service %s", choice.command->name);
	argv[choice.first] = name;
	return choice.command->run(argc - choice.first, argv + choice.first);
}
