/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside [-c COUNT|all] [-d] [-j JOBS] [-n CASES] [-q QUIET_MS] [-s SEED] [-l] [-f FILE] [-r SEQUENCES [-S STEPS]]:
 * runs every call in every state with every argument and prints a line each. -c: about so many of them, which SEED
 * picks; -d: those on an id whose device is removed, instead of all others, and a thirtieth of COUNT; -j: that many at
 * once; -n: so many a process, one after the other; -f: only those that FILE names, a pattern a line; -r: so many random
 * sequences of STEPS calls instead; -l: prints their names. What crashes its process or never ends has that for its
 * outcome, and the next goes on in a new one.
 */
#include "beside.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { LIMIT = 8000 / IDLE_MS, DEVICE_LIMIT = 3 * LIMIT, HELD = 1000 / IDLE_MS };
enum { DEVICE_SHARE = 30, JOBS_MAX = 64, FEW = 3, MARK = 1 };

struct one {
	const struct state *state;
	const struct call *call;
	char arg[32];
	char name[96];
};

/* A process that does some cases, one after the other. What it says: for each, MARK and its number, then its words. */
struct job {
	pid_t pid;
	int fd;
	unsigned since;			/* by the count of idle moments: when it began, or said something */
	size_t next, end;		/* what it is to do; next is what it does */
	size_t len;
	char said[4 * TEXT_MAX];
};

static struct {
	int jobs, quiet_ms, slice, steps;
	bool devices;			/* the states whose device is removed, and no others */
	uint64_t seed;
	struct one *all;
	size_t count;
} plan = {.jobs = 12, .quiet_ms = 60, .slice = 20, .steps = 10, .seed = 1};

/* Shared with the processes of all cases. */
static atomic_uint *idle;

unsigned int idle_moments(void)
{
	return atomic_load(idle);
}

static void *idle_count(void *arg)
{
	struct sched_param none = {0};

	(void)arg;
	CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	for (;;) {
		usleep(IDLE_MS * 1000);
		atomic_fetch_add(idle, 1);
	}
	return NULL;
}

/* ---- A case, in its own process ---- */

static uint64_t case_seed(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3;
	return hash ^ plan.seed;
}

static void case_run(struct world *w, const struct one *one, int fd)
{
	memset(w, 0, sizeof(*w));
	w->name = one->name;
	w->address = vm_address();
	w->seed = case_seed(one->name);
	w->qpn = 0x800000 | ((uint32_t)getpid() * 64 + (uint32_t)(one - plan.all) % 64) % 0x800000;
	if (!one->state) {
		sequence_run(w, plan.steps, plan.quiet_ms, fd);
		return;
	}
	state_make(w, one->state);
	step_run(w, one->call, one->arg, plan.quiet_ms);
	state_end(w);
	dprintf(fd, "%.*s%.*s%.*s\n", (int)w->result.len, w->result.at, (int)w->own.len, w->own.at, (int)w->theirs.len,
		w->theirs.at);
}

/* ---- All of them ---- */

static void job_start(struct job *job)
{
	static struct world world;
	int fds[2];

	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	job->len = 0;
	job->since = idle_moments();
	job->pid = fork();
	CHECK(job->pid >= 0);
	if (job->pid == 0) {
		close(fds[0]);
		dup2(fds[1], STDERR_FILENO);
		for (size_t i = job->next; i < job->end; i++) {
			if (plan.all[i].state)
				dprintf(fds[1], "%c%zu", MARK, i);
			case_run(&world, &plan.all[i], fds[1]);
			if (!plan.all[i].state)
				dprintf(fds[1], "%c%zu \n", MARK, i);
		}
		_exit(0);
	}
	close(fds[1]);
	job->fd = fds[0];
}

/* Whether a line begins as a case's or a step's does: what a check that failed says comes in the place of that. */
static bool line_is_outcome(const char *begin, const char *words)
{
	static const char first[] = "  from=";

	if (*begin == STEP)
		return !strncmp(words, first, strlen(first));
	return *begin == MARK && words == begin + 1 + strspn(begin + 1, "0123456789");
}

/* The lines that are whole. What ended the process in the midst of a case is told when it has ended. */
static void job_tell(struct job *job)
{
	char *begin = job->said, *end;

	for (; (end = memchr(begin, '\n', job->len - (size_t)(begin - job->said))); begin = end + 1) {
		char *words = begin + strcspn(begin, " ");

		if (words > end || !line_is_outcome(begin, words))
			break;
		if (*begin == STEP)
			printf("%.*s outcome=ended%.*s\n", (int)(words - begin - 1), begin + 1, (int)(end - words), words);
		else if (!plan.all[job->next++].state)
			continue;
		else
			printf("%s outcome=ended%.*s\n", plan.all[job->next - 1].name, (int)(end - words), words);
	}
	job->len -= (size_t)(begin - job->said);
	memmove(job->said, begin, job->len);
}

/* Its process is over: because all is done, or in the middle of a case, after which another goes on. */
static void job_over(struct job *job, int status)
{
	const char *name;

	close(job->fd);
	job->pid = 0;
	if (job->next == job->end)
		return;
	job->said[job->len] = '\0';
	name = job->said[0] == STEP ? job->said + 1 : plan.all[job->next].name;
	job->next++;
	if (!WIFSIGNALED(status))
		printf("%.*s outcome=unready # %.*s\n", (int)strcspn(name, " \n"), name, (int)strcspn(job->said, "\n"),
		       job->said);
	else
		printf("%s outcome=%s\n", name, WTERMSIG(status) == SIGALRM ? "hung" : "crashed");
	if (job->next < job->end)
		job_start(job);
}

static void job_end(struct job *job)
{
	int status;

	CHECK_EQ(waitpid(job->pid, &status, 0), job->pid);
	job_over(job, status);
}

static void job_read(struct job *job)
{
	ssize_t got = read(job->fd, job->said + job->len, sizeof(job->said) - 1 - job->len);

	job->since = idle_moments();
	job->len += got > 0 ? (size_t)got : 0;
	if (got > 0)
		job->said[job->len] = '\0', job_tell(job);
	else
		job_end(job);
	fflush(stdout);
}

/* Ends it if it hangs; its end is read as any other. What the kernel holds can't be ended, and is left there. */
static void job_look(struct job *job)
{
	unsigned limit = (plan.devices ? DEVICE_LIMIT : LIMIT) + 2 * (unsigned)plan.quiet_ms / IDLE_MS;
	unsigned waited = idle_moments() - job->since;

	if (waited > limit)
		kill(job->pid, SIGALRM);
	if (waited > limit + HELD)
		job_over(job, SIGALRM);
}

static bool one_is_alone(const struct one *one)
{
	return !one->state || one->state->own_device;
}

static size_t plan_slice_end(size_t begin)
{
	size_t end = begin + 1;

	while (end < plan.count && end - begin < (size_t)plan.slice && !one_is_alone(&plan.all[begin]) &&
	       !one_is_alone(&plan.all[end]))
		end++;
	return end;
}

static void plan_run(void)
{
	static struct job jobs[JOBS_MAX];
	struct pollfd due[JOBS_MAX];
	pthread_t counter;
	size_t next = 0;
	int running = 1;

	idle = mmap(NULL, sizeof(*idle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(idle != MAP_FAILED);
	CHECK_EQ(pthread_create(&counter, NULL, idle_count, NULL), 0);
	while (running) {
		running = 0;
		for (int i = 0; i < plan.jobs; i++) {
			if (!jobs[i].pid && next < plan.count) {
				jobs[i].next = next;
				jobs[i].end = next = plan_slice_end(next);
				job_start(&jobs[i]);
			}
			running += jobs[i].pid != 0;
			due[i] = (struct pollfd){.fd = jobs[i].pid ? jobs[i].fd : -1, .events = POLLIN};
		}
		if (running)
			poll(due, (nfds_t)plan.jobs, 100);
		for (int i = 0; i < plan.jobs; i++) {
			if (due[i].fd >= 0 && due[i].revents)
				job_read(&jobs[i]);
			else if (jobs[i].pid)
				job_look(&jobs[i]);
		}
	}
}

/* ---- Which ---- */

static void plan_add(const struct state *state, const struct call *call, const char *arg)
{
	struct one *one;

	if (plan.count % 1024 == 0)
		plan.all = realloc(plan.all, (plan.count + 1024) * sizeof(*plan.all));
	CHECK(plan.all);
	one = &plan.all[plan.count++];
	one->state = state;
	one->call = call;
	snprintf(one->arg, sizeof(one->arg), "%s", arg);
	if (state)
		snprintf(one->name, sizeof(one->name), "%s/%s/%s", state->name, call->name, arg);
}

/* Whether a call is given all its arguments in this state, or the first ones alone. */
static bool call_is_told(const struct call *call, const char *state)
{
	char wanted[64], all[400];

	snprintf(wanted, sizeof(wanted), " %s ", state);
	snprintf(all, sizeof(all), " %s ", call->in ? call->in : state);
	return strstr(all, wanted);
}

static void plan_add_call(const struct call *call)
{
	for (size_t s = 0; s < states_count; s++) {
		char *args = strdup(call->args), *rest = NULL;

		int few = call->in_alone ? 0 : FEW;
		int left = plan.devices ? few / FEW : call_is_told(call, states[s].name) ? INT_MAX : few;

		if (states[s].own_device != plan.devices)
			left = 0;
		for (char *arg = strtok_r(args, " ", &rest); arg && left-- > 0; arg = strtok_r(NULL, " ", &rest))
			plan_add(&states[s], call, arg);
		free(args);
	}
}

static void plan_add_sequences(int count)
{
	for (int i = 1; i <= count; i++) {
		plan_add(NULL, NULL, "-");
		snprintf(plan.all[plan.count - 1].name, sizeof(plan.all->name), "random:%d", i);
	}
}

/* Leaves those that the file names. */
static void plan_limit(const char *path)
{
	FILE *file = fopen(path, "r");
	char *name = NULL;
	size_t room = 0, kept = 0;

	CHECK(file);
	while (getline(&name, &room, file) > 0) {
		/* Of a sequence a step is named, and all is run. */
		name[strcspn(name, strncmp(name, "random:", 7) ? " \n" : ".\n")] = '\0';
		for (size_t i = kept; i < plan.count; i++) {
			if (!fnmatch(name, plan.all[i].name, 0)) {
				struct one found = plan.all[i];

				plan.all[i] = plan.all[kept];
				plan.all[kept++] = found;
			}
		}
	}
	plan.count = kept;
	free(name);
	fclose(file);
}

/* Leaves about so many, picked by the seed. */
static void plan_sample(size_t wanted)
{
	size_t kept = 0;

	for (size_t i = 0; wanted < plan.count && i < plan.count; i++) {
		if ((case_seed(plan.all[i].name) * 0x9E3779B97F4A7C15 >> 32) % plan.count < wanted)
			plan.all[kept++] = plan.all[i];
	}
	plan.count = wanted < plan.count ? kept : plan.count;
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	int sequences = 0;
	size_t sample = SIZE_MAX;
	bool list = false;
	int option;

	while ((option = getopt(argc, argv, "c:dj:q:n:r:s:S:f:l")) != -1) {
		switch (option) {
		case 'c': sample = isdigit(*optarg) ? strtoul(optarg, NULL, 10) : SIZE_MAX; break;
		case 'd': plan.devices = true; break;
		case 'j': plan.jobs = atoi(optarg); break;
		case 'q': plan.quiet_ms = atoi(optarg); break;
		case 'n': plan.slice = atoi(optarg); break;
		case 'r': sequences = atoi(optarg); break;
		case 's': plan.seed = strtoull(optarg, NULL, 0); break;
		case 'S': plan.steps = atoi(optarg); break;
		case 'f': only = optarg; break;
		case 'l': list = true; break;
		default: return 64;
		}
	}
	CHECK(plan.jobs > 0 && plan.jobs <= JOBS_MAX && plan.slice > 0);
	/* The kernel removes one device after the other. */
	if (plan.devices)
		plan.jobs = 1;
	plan_add_sequences(sequences);
	for (size_t i = 0; !sequences && i < conn_calls_count; i++)
		plan_add_call(&conn_calls[i]);
	for (size_t i = 0; !sequences && i < id_calls_count; i++)
		plan_add_call(&id_calls[i]);
	for (size_t i = 0; !sequences && i < own_calls_count; i++)
		plan_add_call(&own_calls[i]);
	if (only)
		plan_limit(only);
	else
		plan_sample(plan.devices && sample != SIZE_MAX ? sample / DEVICE_SHARE : sample);
	/* The drivers' libraries are loaded once, here, and not by each process. */
	if (!list)
		ibv_free_device_list(ibv_get_device_list(NULL));
	for (size_t i = 0; list && i < plan.count; i++)
		puts(plan.all[i].name);
	if (!list)
		plan_run();
	return 0;
}
