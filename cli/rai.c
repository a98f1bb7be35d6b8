/* SPDX-License-Identifier: BSD-2-Clause */
/* The rai command: its verbs, and how it begins and ends. */
#include <argp.h>
#include <fcntl.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "environment.h"
#include "group.h"

const char *argp_program_version = "rai " RAI_VERSION;

static int rai_version_print(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts(argp_program_version);
	return CLI_FOUND;
}

static const struct cli_command service_commands[] = {
	{ "add", "publish a service at a port, and keep it published until stopped", cli_service_add, NULL },
	{ "list", "list the records that the SA has, by name, id, GID and P_Key", cli_service_list, NULL },
	{ "rm", "remove a record of this host, or with --force of any", cli_service_rm, NULL },
	{ "watch", "tell which records appear, change and vanish", cli_service_watch, NULL },
	{ 0 }
};

static const struct cli_group service = {
	.name = "rai service",
	.doc = "Publish services at the subnet administrator (SA) of an InfiniBand subnet, and look after those that "
	       "are there.\v ",
	.commands = service_commands,
};

static const struct cli_command commands[] = {
	{ "doctor", "look whether this host has what RDMA and names need", cli_doctor, NULL },
	{ "explain", "tell step by step how a name or service resolves", cli_explain, NULL },
	{ "lab", "run a command in a simulated fabric, or in guests with RDMA", cli_lab, NULL },
	{ "ping", "send messages to another host by RDMA, and time each step", cli_ping, NULL },
	{ "ports", "list the RDMA ports of this host, and what resolves through each", cli_ports, NULL },
	{ "resolve", "find the addresses of a host name, or of a service of the SA", cli_resolve, NULL },
	{ "run", "run a program with this librdmacm", cli_run, NULL },
	{ "service", "publish, list, remove and follow services of the SA", NULL, &service },
	{ "stats", "print the counters of running processes", cli_stats, NULL },
	{ "version", NULL, rai_version_print, NULL },
	{ 0 }
};

static const struct cli_group rai = {
	.name = "rai",
	.doc = "Resolve host names and InfiniBand services to RDMA addresses.\v ",
	.beginning = "To begin with: 'rai doctor'; without RDMA hardware: 'rai lab fabric'.",
	.address_hint = "for a host's addresses: rai resolve",
	.commands = commands,
};

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
	char own[] = "rai";

	keep_places();
	argp_err_exit_status = CLI_USAGE;
	if (atexit(cli_output_end))
		return CLI_FAILED;
	/* getopt names the path otherwise, and argp the file. */
	if (argc > 0)
		argv[0] = own;
	cli_environment_check();
	return cli_group_run(&rai, argc, argv);
}
