/* SPDX-License-Identifier: BSD-2-Clause */
/* dnsperf as a peer: it only sends questions and counts answers. */
#include "dns_peers.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The questions of all names of a kind, in a file that the world removes. */
static void questions_write(enum bench_kind kind, const char *path)
{
	FILE *file = fopen(path, "w");
	char name[32];

	if (!file)
		err(3, "%s", path);
	for (unsigned i = 0; i < BENCH_NAMES; i++) {
		bench_name(kind, i, name);
		fprintf(file, "%s A\n%s AAAA\n", name, name);
	}
	if (fclose(file))
		err(3, "%s", path);
}

static const char *questions_of(enum bench_kind kind, char *path, size_t size)
{
	const char *dir = getenv("RAI_WORLD_DIR");

	if (!dir)
		errx(2, "run it by scripts/dns/world -s nsd -n %d", BENCH_NAMES);
	snprintf(path, size, "%s/questions-%c", dir, kind);
	if (access(path, R_OK))
		questions_write(kind, path);
	return path;
}

/* The child, whose words are to be read from *ret_out. */
static pid_t dnsperf_start(const char *path, unsigned window, double seconds, FILE **ret_out)
{
	char in_flight[16], limit[16];
	const char *args[] = { "dnsperf", "-s", getenv("RAI_DNS_NSD"), "-d", path, "-q", in_flight, "-l", limit, NULL };
	posix_spawn_file_actions_t files;
	int out[2];
	pid_t pid;

	snprintf(in_flight, sizeof(in_flight), "%u", window);
	snprintf(limit, sizeof(limit), "%.3f", seconds);
	if (pipe2(out, O_CLOEXEC))
		err(3, "pipe");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out[1], STDERR_FILENO);
	errno = posix_spawnp(&pid, args[0], &files, NULL, (char **)args, environ);
	if (errno)
		err(3, "%s", args[0]);
	posix_spawn_file_actions_destroy(&files);
	close(out[1]);
	*ret_out = fdopen(out[0], "r");
	return pid;
}

struct bench_figure bench_dnsperf(enum bench_kind kind, unsigned window, double seconds)
{
	double completed = 0, took = 0, cpu;
	char path[256], line[256];
	struct rusage usage;
	int status;
	FILE *out;
	pid_t pid = dnsperf_start(questions_of(kind, path, sizeof(path)), window, seconds, &out);

	while (fgets(line, sizeof(line), out)) {
		sscanf(line, " Queries completed: %lf", &completed);
		sscanf(line, " Run time (s): %lf", &took);
	}
	fclose(out);
	if (wait4(pid, &status, 0, &usage) != pid || status || completed < 1 || took <= 0)
		errx(3, "dnsperf failed");
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	return (struct bench_figure){ completed / 2 / took, cpu * 1e6 / (completed / 2) };
}
