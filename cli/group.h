/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that stand behind one word: finds the one that is named, and hands over to it. */
#pragma once

struct cli_group;

struct cli_command {
	const char *name;
	const char *summary;	/* NULL: help doesn't list it */
	int (*run)(int argc, char **argv);
	const struct cli_group *group;	/* instead of run */
};

struct cli_group {
	const char *name;	/* "rai service" */
	const char *doc;
	const char *beginning;	/* a last line of help, where to begin; NULL: none */
	const char *address_hint;	/* what an address is for where a command should stand; NULL: nothing */
	const struct cli_command *commands;	/* up to one without a name */
};

/*
 * argv[0] is the group's name. "help" lists the commands, "help COMMAND" is its --help, also of a group below. A word
 * that is no command ends the process with what it may have been, and CLI_USAGE; else the command's status.
 */
int cli_group_run(const struct cli_group *group, int argc, char **argv);
