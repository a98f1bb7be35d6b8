/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random sequences of public calls beside a model of what must follow.
 *
 * test_model [-n STEPS] [-l STEPS] [-s SEED] [-t] [-v] [-x STEP,STEP-STEP...]
 *   -n  so many steps in all; 100,000 as a rule, fewer under a sanitizer
 *   -l  so many in one run, each in a process of its own; 1,000 as a rule
 *   -s  seed of the first run; each later one has the next. Else by the clock; it is printed
 *   -t  several threads, and what holds whatever they do, instead of one thread and what must follow exactly
 *   -v  prints each step
 *   -x  one run, in this process, of these steps alone
 * A run that fails is made as short as it can be, and the command that does it again is printed. Exit status 1 then.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

enum { STEPS = 100000, STEPS_A_RUN = 1000, SECONDS_A_STEP = 60, TRIES = 300, SECONDS_TO_SHRINK = 120 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif

struct progress *progress;

static void (*run_one)(const struct run *run) = exact_run;
static const char *program, *mode = "";
static bool here;			/* the run is in this process: nobody else says how it failed */

/* ---- Numbers ---- */

/* splitmix64 */
static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct dice dice_of(uint64_t seed, unsigned step)
{
	return (struct dice){ mixed(seed * UINT64_C(0x9e3779b97f4a7c15) + 1) ^ mixed(step + UINT64_C(0x632be59bd9b4e019)) };
}

unsigned dice_below(struct dice *dice, unsigned limit)
{
	dice->state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(mixed(dice->state) % limit);
}

/* ---- A run ---- */

void model_fail(const char *format, ...)
{
	static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
	va_list args;

	/* Not given back: the process ends with the first. */
	pthread_mutex_lock(&first);
	if (!progress->failed) {
		va_start(args, format);
		vsnprintf(progress->why, sizeof(progress->why), format, args);
		va_end(args);
		progress->failed = true;
		if (here)
			fprintf(stderr, "FAILED step %u: %s\n", progress->step, progress->why);
	}
	/* No exit handler is to wait for what went wrong. */
	_exit(3);
}

/* What each thread of a process waits in, and where a debugger is at hand, how it came there. */
static void process_tell(long pid)
{
	char line[400];
	FILE *out;

	snprintf(line, sizeof(line),
		 "cd /proc/%ld/task && for t in *; do echo \"  thread $t $(cat $t/comm): $(cat $t/syscall)\"; done; "
		 "! command -v gdb >/dev/null || gdb -p %ld -batch -ex 'thread apply all bt' 2>/dev/null", pid, pid);
	out = popen(line, "r");
	while (out && fgets(line, sizeof(line), out))
		fputs(line, stderr);
	if (out)
		pclose(out);
}

/* All that the run has: it forks. */
static void group_tell(pid_t group)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && getpgid((pid_t)pid) == group)
			process_tell(pid);
	}
	if (dir)
		closedir(dir);
}

/* How the run ended; one in which a call doesn't return is ended. */
static int run_end(pid_t child, bool quiet)
{
	const struct timespec second = { .tv_sec = 1 };
	unsigned seconds = 0, step = 0;
	int status = -1;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	while (!waitpid(child, &status, WNOHANG)) {
		sigtimedwait(&ends, NULL, &second);
		seconds = progress->step == step ? seconds + 1 : 0;
		step = progress->step;
		if (seconds < SECONDS_A_STEP)
			continue;
		if (!quiet)
			group_tell(child);
		kill(-child, SIGKILL);
		waitpid(child, &status, 0);
		snprintf(progress->why, sizeof(progress->why), "a call doesn't return");
		progress->failed = true;
		break;
	}
	kill(-child, SIGKILL);
	return status;
}

/* In a process of its own: whether it failed, and progress says how. */
static bool run_fails(const struct run *run, bool quiet)
{
	sigset_t ends, before;
	pid_t child;
	int status;

	*progress = (struct progress){ 0 };
	fflush(NULL);
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, &before);
	child = fork();
	if (child < 0)
		exit(77);
	if (!child) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (quiet && !freopen("/dev/null", "w", stderr))
			_exit(1);
		run_one(run);
		exit(0);
	}
	setpgid(child, child);
	status = run_end(child, quiet);
	if (!status)
		return false;
	if (!progress->failed)
		snprintf(progress->why, sizeof(progress->why), "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return true;
}

/* ---- Making it shorter ---- */

static unsigned left(const struct run *run)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->steps; i++)
		count += !run->out[i];
	return count;
}

/* Takes out pieces of this size, each where it fails without, too. */
static bool shrink_by(struct run *run, bool *out, unsigned size, unsigned *tries, time_t until)
{
	bool before[STEPS_A_RUN * 10], any = false;

	for (unsigned at = 0; at < run->steps && *tries < TRIES && time(NULL) < until; at += size) {
		unsigned end = at + size < run->steps ? at + size : run->steps, taken = 0;

		memcpy(before, out, run->steps);
		for (unsigned i = at; i < end; i++) {
			taken += !out[i];
			out[i] = true;
		}
		if (!taken)
			continue;
		(*tries)++;
		if (run_fails(run, true))
			any = true;
		else
			memcpy(out, before, run->steps);
	}
	return any;
}

static void shrink(struct run *run, bool *out)
{
	time_t until = time(NULL) + SECONDS_TO_SHRINK;
	unsigned tries = 0;

	/* What comes after the step that failed plays no part, but for the end of it all. */
	if (progress->step + 1 < run->steps)
		run->steps = progress->step + 1;
	run->out = out;
	if (!run_fails(run, true))
		fprintf(stderr, "  it doesn't fail each time\n");
	for (unsigned size = run->steps / 2; size; size = size == 1 && tries < TRIES / 2 ? 1 : size / 2)
		if (!shrink_by(run, out, size, &tries, until) && size == 1)
			break;
}

static void tell(const struct run *run)
{
	const char *comma = "";

	fprintf(stderr, "  %u steps are left; again:\n  %s%s -s %ju -x ", left(run), program, mode, (uintmax_t)run->seed);
	for (unsigned i = 0; i < run->steps; i++) {
		unsigned end = i;

		if (run->out[i])
			continue;
		while (end + 1 < run->steps && !run->out[end + 1])
			end++;
		fprintf(stderr, end > i ? "%s%u-%u" : "%s%u", comma, i, end);
		comma = ",";
		i = end;
	}
	fputc('\n', stderr);
}

static int failed(struct run *run)
{
	static bool out[STEPS_A_RUN * 10];

	fprintf(stderr, "FAILED seed %ju, step %u: %s\n", (uintmax_t)run->seed, progress->step, progress->why);
	shrink(run, out);
	run_fails(run, false);
	tell(run);
	return 1;
}

/* ---- Options ---- */

static int run_these(struct run *run, char *list)
{
	static bool out[STEPS_A_RUN * 10];
	char *word;

	memset(out, true, sizeof(out));
	run->steps = 0;
	while ((word = strsep(&list, ","))) {
		unsigned from, to;
		int count = sscanf(word, "%u-%u", &from, &to);

		if (count < 1)
			return 64;
		for (unsigned i = from; i <= (count == 2 ? to : from) && i < sizeof(out); i++) {
			out[i] = false;
			run->steps = i + 1;
		}
	}
	run->out = out;
	here = true;
	run_one(run);
	return 0;
}

int main(int argc, char **argv)
{
	struct run run = { .seed = (uint64_t)time(NULL), .steps = STEPS_A_RUN };
	unsigned long all = STEPS / SLOWER, done = 0;
	char *list = NULL;
	int option;

	program = argv[0];
	while ((option = getopt(argc, argv, "l:n:s:tvx:")) >= 0) {
		switch (option) {
		case 'l': run.steps = (unsigned)atoi(optarg); break;
		case 'n': all = strtoul(optarg, NULL, 10); break;
		case 's': run.seed = strtoull(optarg, NULL, 10); break;
		case 't': run_one = threads_run; mode = " -t"; break;
		case 'v': run.verbose = true; break;
		case 'x': list = optarg; break;
		default: return 64;
		}
	}
	if (!run.steps || run.steps > STEPS_A_RUN * 10)
		return 64;
	setenv("RAI_DEVICELESS", "1", 1);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		return 77;
	if (list)
		return run_these(&run, list);
	printf("seed %ju, %lu steps, %u a run\n", (uintmax_t)run.seed, all, run.steps);
	for (; done < all; done += run.steps, run.seed++)
		if (run_fails(&run, false))
			return failed(&run);
	return 0;
}
