/* SPDX-License-Identifier: BSD-2-Clause */
/* rai run: becomes another program, one that gets the librdmacm that this command has. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "loader.h"
#include "read.h"

/* As env(1) and sh(1) have them. */
enum { CLI_CANNOT_RUN = 126, CLI_NO_COMMAND = 127 };

extern char **environ;

struct run {
	bool verbose;
	int first;	/* the command's index in argv */
};

static const struct argp_option options[] = {
	{ "verbose", 'v', NULL, 0, "Say which library the command gets, and by what", 0 }, CLI_OPTION_HELP, { 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, false);
		return 0;
	case 'v':
		run->verbose = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		if (!*arg)
			argp_error(state, "COMMAND is empty");
		run->first = state->next - 1;
		state->next = state->argc;	/* the rest is the command's */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "COMMAND is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * The directory of own goes in front. Not LD_PRELOAD: every program below, shells too, would load the library and those
 * that it needs, and one of another kind would complain. Where the loader finds it anyway nothing is set, so that a
 * library in a system directory takes no others of that directory in front. 0, 1: set, or -errno.
 */
static int library_prepend(const char *own)
{
	const char *by, *before = getenv("LD_LIBRARY_PATH");
	char found[PATH_MAX], *value = NULL;
	int len, rc;

	if (cli_library_of_loader(found, sizeof(found), &by) == 0 && cli_library_same(own, found))
		return 0;
	if (strpbrk(own, ":;"))
		return -EINVAL;
	len = (int)(strrchr(own, '/') - own);
	if (asprintf(&value, "%.*s%s%s", len, own, before && *before ? ":" : "", before ? before : "") < 0)
		return -ENOMEM;
	rc = setenv("LD_LIBRARY_PATH", value, 1) < 0 ? -errno : 1;
	free(value);
	return rc;
}

/* The loader of a dynamic program lists what it would load, and doesn't start it. */
static void verbose(const char *path, const struct cli_program *program, const char *own, bool set)
{
	char found[PATH_MAX];
	char *argv[] = { (char[PATH_MAX]) { 0 }, NULL };
	int rc;

	fprintf(stderr, "rai run: %s, %s\n", own, set ? "by LD_LIBRARY_PATH" : "which the loader finds by itself");
	if (!program->is_dynamic)
		return;
	snprintf(argv[0], PATH_MAX, "%s", path);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	rc = cli_loader_find(argv, environ, found, sizeof(found));
	unsetenv("LD_TRACE_LOADED_OBJECTS");
	if (rc < 0)
		fprintf(stderr, "rai run: %s isn't linked with librdmacm.so.1 itself\n", path);
	else if (!cli_library_same(own, found))
		fprintf(stderr, "rai run: %s gets another one all the same: %s; it was linked with -rpath\n",
			path, found);
	else
		fprintf(stderr, "rai run: %s gets it\n", path);
}

/* Says what can't be; true where there is no point in going on. */
static bool refuse(const char *path, const struct cli_program *program)
{
	if (program->is_privileged) {
		fprintf(stderr, "rai run: %s runs with other rights than yours (setuid, setgid or capabilities), so "
			"the loader lets nobody choose its library by the environment; rai-default(8) makes this one "
			"that of every program. What sudo starts gets it so: sudo rai run COMMAND\n", path);
		return true;
	}
	if (program->is_elf && !program->is_our_kind)
		fprintf(stderr, "rai run: %s is for another kind of processor, or of another size: it won't get this "
			"library\n", path);
	else if (program->is_elf && !program->is_dynamic)
		fprintf(stderr, "rai run: %s is linked statically: it won't get this library, but what it "
			"starts will\n", path);
	return false;
}

int cli_run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Run COMMAND with the librdmacm that this rai has, also where the loader would give it "
		       "another.\v"
		       "Exit status: that of COMMAND; 2 wrong usage, 3 any other failure, 126 COMMAND can't be run, "
		       "127 there is none.",
	};
	char own[PATH_MAX], path[PATH_MAX];
	struct cli_program program;
	struct run run = { 0 };
	const char *name;
	int rc;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run))
		return CLI_FAILED;
	name = argv[run.first];
	rc = cli_library_own(own, sizeof(own));
	if (rc < 0)
		return cli_fail("finding the library of rai", strerror(-rc), CLI_FAILED);
	rc = cli_program_find(name, path, sizeof(path));
	if (rc < 0)
		return cli_fail(name, rc == -ENOENT ? "no such command" : strerror(-rc),
				rc == -ENOENT || rc == -ENOTDIR ? CLI_NO_COMMAND : CLI_CANNOT_RUN);
	/* What can be executed but not read is left to the kernel. */
	if (cli_program_read(path, &program) < 0)
		program = (struct cli_program) { .is_our_kind = true };
	if (refuse(path, &program))
		return CLI_CANNOT_RUN;
	rc = library_prepend(own);
	if (rc == -EINVAL)
		return cli_fail(own, "a colon or semicolon in the path of a library ends it", CLI_FAILED);
	if (rc < 0)
		return cli_fail("environment", strerror(-rc), CLI_FAILED);
	if (run.verbose)
		verbose(path, &program, own, rc == 1);
	execvp(name, &argv[run.first]);
	return cli_fail(name, strerror(errno), CLI_CANNOT_RUN);
}
