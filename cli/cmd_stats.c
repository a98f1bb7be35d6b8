/* SPDX-License-Identifier: BSD-2-Clause */
/* rai stats: counters of running processes, which those with RAI_STATS=1 give out on a socket. */
#include <argp.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "out.h"
#include "read.h"
#include "screen.h"

enum { PROCESSES_MAX = 4096, REPLY_MAX = 4096, WAIT_MS = 1000, COUNTERS = 13 };

static const struct counter {
	const char *name, *words;
	bool level;
} counters[COUNTERS] = {
	{ "started", "Resolutions accepted", false },
	{ "resolved", "Resolutions that ended with results", false },
	{ "failed", "Resolutions that ended with an error", false },
	{ "cancelled", "Resolutions that were cancelled", false },
	{ "kept_hits", "Resolutions answered from kept answers", false },
	{ "shared", "Resolutions that joined an equal lookup", false },
	{ "lookups", "Lookups started at a back end", false },
	{ "timeouts", "Deadlines that ran out", false },
	{ "sa_queries", "MADs sent to an SA", false },
	{ "sa_retries", "MADs sent to an SA again", false },
	{ "outstanding", "Resolutions under way", true },
	{ "in_flight", "Lookups under way", true },
	{ "kept", "Answers kept", true },
};

struct process {
	uint64_t pid;
	char program[64], version[32];
	uint64_t values[COUNTERS];
};

struct stats {
	bool json, prometheus;
	uint64_t pid;		/* 0: all */
	char directory[90];
	struct process *all;
	size_t count;
	int error;		/* of the last that couldn't be read; 0: none */
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	{ "prometheus", 'P', NULL, 0, "Print them in the text format of Prometheus", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stats *stats = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 'j':
		stats->json = true;
		return 0;
	case 'P':
		stats->prometheus = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		stats->pid = strtoull(arg, &end, 10);
		if (!isdigit((unsigned char)*arg) || *end || stats->pid == 0 || stats->pid > INT32_MAX)
			argp_error(state, "no number of a process: '%s'", arg);
		if (state->arg_num > 0)
			argp_error(state, "one PID at most");
		return 0;
	case ARGP_KEY_END:
		if (stats->json && stats->prometheus)
			argp_error(state, "--json and --prometheus exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- Asking a process ---- */

static int reply_read(int fd, char reply[REPLY_MAX])
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int64_t until = cli_now_us() + WAIT_MS * 1000;
	size_t used = 0;
	ssize_t len;

	do {
		int64_t left = until - cli_now_us();

		if (left <= 0 || poll(&pollfd, 1, (int)(left / 1000) + 1) == 0)
			return -ETIMEDOUT;
		len = recv(fd, reply + used, REPLY_MAX - 1 - used, MSG_DONTWAIT);
		if (len < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		used += len > 0 ? (size_t)len : 0;
	} while (len != 0 && used < REPLY_MAX - 1);
	reply[used] = 0;
	/* Nothing: it doesn't answer to this user. */
	return used ? 0 : -EACCES;
}

/* Lines "NAME VALUE"; names that aren't known here are gone by. */
static int reply_take(char *reply, struct process *process)
{
	char *left, *line = strtok_r(reply, "\n", &left);

	if (!line || strncmp(line, "rai-stats ", 10) != 0)
		return -EPROTO;
	while ((line = strtok_r(NULL, "\n", &left))) {
		char *value = strchr(line, ' ');

		if (!value)
			return -EPROTO;
		*value++ = 0;
		if (strcmp(line, "program") == 0)
			snprintf(process->program, sizeof(process->program), "%s", value);
		else if (strcmp(line, "version") == 0)
			snprintf(process->version, sizeof(process->version), "%s", value);
		for (size_t i = 0; i < COUNTERS; i++)
			if (strcmp(line, counters[i].name) == 0)
				process->values[i] = strtoull(value, NULL, 10);
	}
	for (char *c = process->program; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return 0;
}

/* One that lives may be about to listen; of its number another may have left it, who doesn't matter. */
static bool process_is_gone(uint64_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* 0 or -errno. What a process that was killed has left is removed. */
static int process_ask(const struct stats *stats, uint64_t pid, struct process *ret_process)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char reply[REPLY_MAX];
	int fd, rc;

	*ret_process = (struct process) { .pid = pid };
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/rai-%" PRIu64 ".stats", stats->directory, pid) >=
	    (int)sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : reply_read(fd, reply);
	close(fd);
	if (rc == -ECONNREFUSED && process_is_gone(pid))
		unlink(address.sun_path);
	return rc < 0 ? rc : reply_take(reply, ret_process);
}

/* ---- Which there are ---- */

/* Of one's own processes, or where one is named, of those of its user. */
static void directory_choose(struct stats *stats)
{
	const char *own = getenv("XDG_RUNTIME_DIR");
	uid_t uid = geteuid();
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu64, stats->pid);
	if (stats->pid && stat(path, &st) == 0)
		uid = st.st_uid;
	if (own && *own && uid == geteuid() && strlen(own) < sizeof(stats->directory))
		strcpy(stats->directory, own);
	else
		snprintf(stats->directory, sizeof(stats->directory), "/run/user/%u", uid);
}

static void process_add(struct stats *stats, uint64_t pid)
{
	int rc = process_ask(stats, pid, &stats->all[stats->count]);

	if (rc == 0)
		stats->count++;
	else if (rc != -ECONNREFUSED && rc != -ENOENT)
		stats->error = -rc;
}

static int process_compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void directory_read(struct stats *stats)
{
	const struct dirent *entry;
	DIR *directory = opendir(stats->directory);

	if (!directory && errno != ENOENT)
		stats->error = errno;
	while (directory && stats->count < PROCESSES_MAX && (entry = readdir(directory))) {
		uint64_t pid;
		int end = 0;

		if (sscanf(entry->d_name, "rai-%" SCNu64 ".stats%n", &pid, &end) == 1 && end && !entry->d_name[end])
			process_add(stats, pid);
	}
	if (directory)
		closedir(directory);
	qsort(stats->all, stats->count, sizeof(*stats->all), process_compare);
}

/* ---- What is printed ---- */

/* A process a line where the terminal is wide enough for it, or it is none; else a counter a line. */
static void print_text(const struct stats *stats)
{
	static const char *const heads[COUNTERS] = {
		"STARTED", "RESOLVED", "FAILED", "CANCELLED", "KEPT HITS", "SHARED", "LOOKUPS", "TIMEOUTS", "SA MADS",
		"AGAIN", "UNDER WAY", "IN FLIGHT", "KEPT",
	};
	enum { WIDE = 8 + 17 + COUNTERS * 11 };
	int width = cli_screen_width(stdout);

	if (width > 0 && width < WIDE) {
		for (size_t p = 0; p < stats->count; p++) {
			printf("%s%" PRIu64 " %s\n", p ? "\n" : "", stats->all[p].pid, stats->all[p].program);
			for (size_t i = 0; i < COUNTERS; i++)
				printf("  %-40s %20" PRIu64 "\n", counters[i].words, stats->all[p].values[i]);
		}
		return;
	}
	printf("%7s  %-16s", "PID", "PROGRAM");
	for (size_t i = 0; i < COUNTERS; i++)
		printf(" %10s", heads[i]);
	for (size_t p = 0; p < stats->count; p++) {
		printf("\n%7" PRIu64 "  %-16s", stats->all[p].pid, stats->all[p].program);
		for (size_t i = 0; i < COUNTERS; i++)
			printf(" %10" PRIu64, stats->all[p].values[i]);
	}
	putchar('\n');
}

static void print_prometheus(const struct stats *stats)
{
	for (size_t i = 0; i < COUNTERS; i++) {
		const char *total = counters[i].level ? "" : "_total";

		printf("# HELP rai_%s%s %s.\n# TYPE rai_%s%s %s\n", counters[i].name, total, counters[i].words,
		       counters[i].name, total, counters[i].level ? "gauge" : "counter");
		for (size_t p = 0; p < stats->count; p++) {
			printf("rai_%s%s{pid=\"%" PRIu64 "\",program=\"", counters[i].name, total, stats->all[p].pid);
			for (const char *c = stats->all[p].program; *c; c++)
				printf("%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
			printf("\"} %" PRIu64 "\n", stats->all[p].values[i]);
		}
	}
}

static int print_json(const struct stats *stats)
{
	json_t *processes = json_array(), *json;

	for (size_t p = 0; p < stats->count; p++) {
		json = json_pack("{s:I, s:s, s:s}", "pid", (json_int_t)stats->all[p].pid, "program",
				 stats->all[p].program, "library_version", stats->all[p].version);
		for (size_t i = 0; i < COUNTERS; i++)
			json_object_set_new(json, counters[i].name, json_integer((json_int_t)stats->all[p].values[i]));
		json_array_append_new(processes, json);
	}
	json = json_pack("{s:i, s:o}", "version", CLI_JSON_VERSION, "processes", processes);
	return cli_print_object(json, JSON_INDENT(2), CLI_FOUND);
}

static int stats_run(struct stats *stats)
{
	int status = CLI_FOUND;
	char what[128];

	if (stats->pid)
		process_add(stats, stats->pid);
	else
		directory_read(stats);
	if (stats->json)
		status = print_json(stats);
	else if (stats->prometheus)
		print_prometheus(stats);
	else if (stats->count > 0)
		print_text(stats);
	if (stats->error)
		return cli_fail(stats->directory, stats->error == EACCES ? "a process is another user's" :
				  strerror(stats->error), CLI_FAILED);
	if (stats->count > 0 || status)
		return status;
	if (stats->pid)
		snprintf(what, sizeof(what), "process %" PRIu64 " gives none out in %s", stats->pid, stats->directory);
	else
		snprintf(what, sizeof(what), "no process gives any out in %s", stats->directory);
	if (access(stats->directory, F_OK) < 0)
		return cli_fail(what, "there is no such folder; outside of a session, XDG_RUNTIME_DIR names another to "
				"them and to this command", CLI_NOT_FOUND);
	return cli_fail(what, "those do that were started with RAI_STATS=1, and have looked up something",
			  CLI_NOT_FOUND);
}

int cli_stats(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[PID]",
		.doc = "Print the counters of running processes that were started with RAI_STATS=1, of this user, "
		       "or of the one whose number is PID.\v"
		       "Exit status: 0 there are some, 1 there are none, 2 wrong usage, 3 any other failure.",
	};
	struct stats stats = { 0 };
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &stats))
		return CLI_FAILED;
	stats.all = calloc(PROCESSES_MAX + 1, sizeof(*stats.all));
	if (!stats.all)
		return cli_fail("beginning", strerror(errno), CLI_FAILED);
	directory_choose(&stats);
	status = stats_run(&stats);
	free(stats.all);
	return status;
}
