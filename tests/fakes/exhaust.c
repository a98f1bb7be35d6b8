/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes calls with means that run out, each time in a process of its own. */
#include "exhaust.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20, LANES = 8, WATCHED_MAX = 1024, USES_MAX = 500, CELL = 128 };

/* What a process tells. */
struct told {
	int ret, again;
	bool failed, by_event, changed;
	int fds;
	bool over;
};

/* As many at a time, since each mostly waits; told is the one that is being started or judged. */
static struct told *lanes, *told;
static const void *watched;
static size_t watched_len;

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

void exhaust_watch(const void *bytes, size_t len)
{
	watched = bytes;
	watched_len = len;
}

void exhaust_by_event(void)
{
	told->by_event = true;
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int exhaust_call_once(const struct exhaust_call *call)
{
	int ret = call->call();

	if (!ret && call->undo)
		call->undo();
	return ret;
}

static void run_child(const struct exhaust *exhaust, const struct exhaust_call *call, enum fake_means means, unsigned nth)
{
	static uint8_t before[WATCHED_MAX];
	bool by_event;

	alarm(SECONDS);
	exhaust->begin();
	if (call->prepare)
		call->prepare();
	if (watched)
		memcpy(before, watched, watched_len);
	fake_means_fail(means, nth);
	told->ret = call->call();
	told->failed = fake_means_calm();
	if (told->ret)
		told->changed = watched && memcmp(before, watched, watched_len);
	else if (call->undo)
		call->undo();
	by_event = told->by_event;
	told->again = exhaust_call_once(call);
	told->by_event = by_event;
	exhaust->end();
	told->fds = count_fds();
	told->over = true;
	_exit(__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() ? 23 : 0);
}

static pid_t child_start(const struct exhaust *exhaust, const struct exhaust_call *call, enum fake_means means, unsigned nth)
{
	pid_t pid;

	memset(told, 0, sizeof(*told));
	fflush(NULL);
	pid = fork();
	if (!pid)
		run_child(exhaust, call, means, nth);
	return pid;
}

/* Waits for it. False: it didn't end well. */
static bool child_ended(pid_t pid, const struct exhaust_call *call, enum fake_means means, unsigned nth)
{
	int status = -1;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status && told->over)
		return true;
	printf("%s, means %d, use %u: status %#x, said %d\n", call->name, means, nth, (unsigned)status, told->ret);
	return false;
}

static bool is_well(const struct exhaust_call *call, enum fake_means means, unsigned nth, int fds)
{
	bool said = told->ret == -fake_means_errno(means) || (call->dropped && told->ret == call->dropped());

	if ((!told->ret || (told->failed && said)) && !told->changed && !told->again && told->fds <= fds)
		return true;
	printf("%s, means %d, use %u: said %d, then %d; %s, %d descriptors, %d where nothing failed\n", call->name, means, nth,
	       told->ret, told->again, told->changed ? "changed" : "unchanged", told->fds, fds);
	return false;
}

struct outcomes {
	unsigned uses;
	bool said, by_event, dropped, went_on;
};

static void outcomes_note(struct outcomes *all, enum fake_means means)
{
	all->uses++;
	if (!told->ret)
		all->went_on = true;
	else if (told->ret != -fake_means_errno(means))
		all->dropped = true;
	else if (told->by_event)
		all->by_event = true;
	else
		all->said = true;
}

static bool run_means(const struct exhaust *exhaust, const struct exhaust_call *call, enum fake_means means,
		      struct outcomes *ret_outcomes)
{
	bool well, spared = false;
	pid_t pids[LANES];
	int fds;

	told = lanes;
	well = child_ended(child_start(exhaust, call, means, 0), call, means, 0) && is_well(call, means, 0, told->fds);
	fds = told->fds;
	for (unsigned nth = 1; well && !spared && nth < USES_MAX; nth += LANES) {
		for (unsigned i = 0; i < LANES; i++) {
			told = &lanes[i];
			pids[i] = child_start(exhaust, call, means, nth + i);
		}
		for (unsigned i = 0; i < LANES; i++) {
			told = &lanes[i];
			well = child_ended(pids[i], call, means, nth + i) && well;
			/* Those behind the last use meet no failure. */
			if (!well || spared)
				continue;
			well = is_well(call, means, nth + i, fds);
			spared = !told->failed;
			if (!spared)
				outcomes_note(ret_outcomes, means);
		}
	}
	return well && spared;
}

/* Appends one more to what a cell says. */
static void cell_add(char *cell, size_t size, bool seen, const char *words, const char *error)
{
	size_t len = strlen(cell);

	if (seen)
		snprintf(cell + len, size - len, "%s%s%s", len ? ", or " : "", error, words);
}

static void cell_write(char *cell, size_t size, const struct outcomes *outcomes, enum fake_means means)
{
	static const char *const errors[] = { "`ENOMEM`", "`EMFILE`", "`EAGAIN`" };

	*cell = '\0';
	cell_add(cell, size, !outcomes->uses, "needs none", "");
	cell_add(cell, size, outcomes->said, "", errors[means]);
	cell_add(cell, size, outcomes->by_event, " in the event", errors[means]);
	cell_add(cell, size, outcomes->dropped, "the request is refused", "");
	cell_add(cell, size, outcomes->went_on, "goes on", "");
}

/* Whether all outcomes of a cell are among those of the documented one. */
static bool is_among(char *seen, const char *documented)
{
	char *rest = NULL;

	for (char *one = strtok_r(seen, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		one += strspn(one, " ");
		if (!strncmp(one, "or ", 3))
			one += 3;
		if (!strstr(documented, one))
			return false;
	}
	return true;
}

/* "| call | memory | descriptors | threads |" */
static bool is_row(char *line, const char *name, char cells[][CELL])
{
	char *rest = NULL, *cell = strtok_r(line, "|", &rest);
	size_t len = strlen(name);

	if (!cell || *cell++ != ' ' || strncmp(cell, name, len) != 0 || strcmp(cell + len, " ") != 0)
		return false;
	for (enum fake_means means = 0; means < FAKE_MEANS; means++) {
		cell = strtok_r(NULL, "|", &rest);
		if (!cell || !is_among(cells[means], cell))
			return false;
	}
	return true;
}

/* In docs/reliability.md, where the environment says where that is. */
static bool is_documented(const char *name, char cells[][CELL])
{
	const char *path = getenv("RAI_RELIABILITY");
	FILE *file = path ? fopen(path, "r") : NULL;
	bool found = !path;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file))
		found = is_row(line, name, cells);
	if (file)
		fclose(file);
	if (!found)
		printf("%s has another line\n", path);
	return found;
}

static bool run_call(const struct exhaust *exhaust, const struct exhaust_call *call)
{
	char cells[FAKE_MEANS][CELL];
	bool well = true;

	for (enum fake_means means = 0; means < FAKE_MEANS; means++) {
		struct outcomes outcomes = { 0 };

		well = run_means(exhaust, call, means, &outcomes) && well;
		cell_write(cells[means], sizeof(cells[means]), &outcomes, means);
	}
	printf("| %s | %s | %s | %s |\n", call->name, cells[FAKE_MEMORY], cells[FAKE_DESCRIPTORS], cells[FAKE_THREADS]);
	return is_documented(call->name, cells) && well;
}

bool exhaust_run(const struct exhaust *exhaust, const char *only)
{
	bool well = true;

	lanes = mmap(NULL, LANES * sizeof(*lanes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lanes == MAP_FAILED)
		return false;
	for (size_t i = 0; i < exhaust->count; i++)
		if (strstr(exhaust->calls[i].name, only))
			well = run_call(exhaust, &exhaust->calls[i]) && well;
	munmap(lanes, LANES * sizeof(*lanes));
	return well;
}
