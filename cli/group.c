/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that stand behind one word. */
#include "group.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "read.h"

struct choice {
	const struct cli_group *group;
	const struct cli_command *command;
	int first;		/* index of the command in argv */
	bool help;
};

/* "add, list, rm and watch". */
static void names_list(const struct cli_group *group, char *buf, size_t size)
{
	size_t used = 0;

	for (const struct cli_command *c = group->commands; c->name; c++) {
		const struct cli_command *next = c + 1;

		while (next->name && !next->summary)
			next++;
		if (c->summary && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used == 0 ? "" :
						 next->name ? ", " : " and ", c->name);
	}
}

static const struct cli_command *command_read(struct argp_state *state, const struct cli_group *group, const char *name)
{
	const char *below = group->name + strcspn(group->name, " ");	/* " service"; "" of rai itself */
	struct cli_closest closest = { .word = name };
	char names[160] = "";

	for (const struct cli_command *c = group->commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
		if (c->summary)
			cli_closest_try(&closest, c->name);
	}
	below += *below == ' ';
	names_list(group, names, sizeof(names));
	if (group->address_hint && strpbrk(name, ".:"))
		argp_error(state, "no such command: '%s'; %s %s", name, group->address_hint, name);
	else if (closest.name)
		argp_error(state, "no such command: '%s%s%s'; did you mean '%s%s%s'?", below, *below ? " " : "", name,
			   below, *below ? " " : "", closest.name);
	else
		argp_error(state, "no such command: '%s%s%s'; there are %s", below, *below ? " " : "", name, names);
	return NULL;
}

static bool asks_for_help(const char *arg)
{
	return strcmp(arg, "help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "-?") == 0 ||
	       strcmp(arg, "--help") == 0;
}

static void choice_read(struct argp_state *state, struct choice *choice, const char *arg)
{
	choice->help = strcmp(arg, "help") == 0;
	if (choice->help && (state->next == state->argc || asks_for_help(state->argv[state->next])))
		cli_help(state);
	choice->first = choice->help ? state->next : state->next - 1;
	choice->command = command_read(state, choice->group, state->argv[choice->first]);
	if (choice->help && !choice->command->group && choice->first + 1 < state->argc &&
	    !asks_for_help(state->argv[choice->first + 1]))
		argp_error(state, "help takes the name of a command, and nothing behind it: '%s'",
			   state->argv[choice->first + 1]);
	state->next = state->argc;	/* the rest is the command's */
}

static const struct argp_option options[] = { CLI_OPTION_HELP, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, false);
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		choice_read(state, state->input, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		fprintf(stderr, "%s: a command is missing\n", state->name);
		argp_state_help(state, stderr,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_commands(int key, const char *text, void *input)
{
	const struct choice *choice = input;
	const struct cli_group *group = choice ? choice->group : NULL;
	const char *below;
	char *help = NULL;
	size_t size;
	FILE *out;

	if (key != ARGP_KEY_HELP_POST_DOC || !group)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return NULL;
	fputs("Commands:\n", out);
	for (const struct cli_command *c = group->commands; c->name; c++)
		if (c->summary)
			fprintf(out, "  %-8s %s\n", c->name, c->summary);
	below = strchr(group->name, ' ');
	fprintf(out, "\n'rai help%s COMMAND' says more about each.%s%s", below ? below : "",
		group->beginning ? " " : "", group->beginning ? group->beginning : "");
	fclose(out);
	return help;
}

int cli_group_run(const struct cli_group *group, int argc, char **argv)
{
	const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = group->doc,
		.help_filter = help_commands,
	};
	struct choice choice = { .group = group };
	char name[CLI_NAME_MAX], help[] = "help", option[] = "--help";
	const struct cli_command *command;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice))
		return CLI_FAILED;
	command = choice.command;
	snprintf(name, sizeof(name), "%s %s", group->name, command->name);
	cli_name_set(name);
	argv += choice.first;
	argc -= choice.first;
	argv[0] = name;
	/* "help service add" is "service help add". */
	if (choice.help && command->group)
		return cli_group_run(command->group, argc > 2 ? 4 : 3, (char *[]) {
			name, help, argc > 1 ? argv[1] : help, argc > 2 ? argv[2] : NULL, NULL });
	if (choice.help)
		return command->run(2, (char *[]) { name, option, NULL });
	return command->run ? command->run(argc, argv) : cli_group_run(command->group, argc, argv);
}
