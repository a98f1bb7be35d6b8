/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each fault of a name server and of an SA in each situation, through the public API. Whatever the other side does:
 *
 *   - a call that returned 0 has exactly one event, with the status that the contract names, or results that are right;
 *   - it comes by the deadline;
 *   - of an id that was destroyed nothing comes;
 *   - in the end there are as many descriptors, threads and octets of memory as before, and there never were too many.
 *
 * usage: fire [WORDS]: all faults, or those with WORDS in their name. Prints tables of docs/reliability.md; a cell has the
 * outcomes that were seen. In scripts/dns/world, with the liar. Each fault is a process of its own, some at a time.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fire.h"

enum { MANY = 1000, SOME = 200, FEW = 8, FAULTS_MAX = 128, SIDES = 3, SITUATIONS = 4 };
enum { AT_A_TIME = 10, LATE_MS = 5000, ENDLESS_MS = 60000, IDLE_MS = 20000, PROCESS_S = 300 };
enum { MEMORY_MOST = 64 << 20, DESCRIPTORS = 256 };
/* Octets: what the least piece that each of many names left would come to. The allocator's rounding is below that. */
enum { LEAST_LEFT = MANY * 32 };

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* ---- What is told to the process that prints ---- */

/* The outcomes of a cell, each once. */
struct outcomes {
	int statuses[8];
	unsigned count;
};

struct cell {
	struct outcomes here, child;
};

struct row {
	struct cell cells[SITUATIONS];
	bool failed;
};

static struct shared {
	sem_t places;
	struct row rows[SIDES][FAULTS_MAX];
} *shared;

static struct row *row;			/* of this process */
static const struct fire_fault *fault;
static const struct fire_side *side;
static const char *situation = "";

void fire_complain(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s, %s: %s\n", fault->what, situation, text);
	row->failed = true;
}

/* In an order of their own. */
static void outcomes_add(struct outcomes *all, int status)
{
	unsigned at = 0;

	while (at < all->count && all->statuses[at] > status)
		at++;
	if ((at < all->count && all->statuses[at] == status) || all->count == sizeof(all->statuses) / sizeof(*all->statuses))
		return;
	memmove(&all->statuses[at + 1], &all->statuses[at], (all->count - at) * sizeof(int));
	all->statuses[at] = status;
	all->count++;
}

/* ---- Resolutions, as an application has them ---- */

struct asked {
	struct rdma_cm_id *id;		/* NULL: destroyed */
	bool ended;
	double began_ms;
};

static struct rdma_event_channel *channel;
static struct asked asked[MANY];
static unsigned under_way;
static unsigned number;			/* so that no two names are equal */

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static uint32_t deadline(void)
{
	return fault->deadline_ms ? fault->deadline_ms : ENDLESS_MS * SLOW;
}

static void ask(struct asked *a)
{
	uint32_t ms = deadline();
	int ret;

	*a = (struct asked){ 0 };
	if (rdma_create_id(channel, &a->id, a, RDMA_PS_IB) ||
	    rdma_set_option(a->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)))
		err(1, "an id");
	a->began_ms = now_ms();
	ret = side->ask(a->id, fault, number++);
	if (ret)
		fire_complain("refused: %s", strerrorname_np(-ret));
	a->ended = ret;
	under_way += !ret;
}

static void destroy(struct asked *a)
{
	if (!a->id)
		return;
	under_way -= !a->ended;
	rdma_destroy_id(a->id);
	a->id = NULL;
}

static void destroy_all(void)
{
	for (unsigned i = 0; i < MANY; i++)
		destroy(&asked[i]);
}

/* Whose an event is; NULL: of an id that is gone, whose context may be gone, too. */
static struct asked *asked_by(const struct rdma_cm_id *id)
{
	struct asked *a = NULL;

	for (unsigned i = 0; i < MANY && !a; i++)
		if (asked[i].id == id)
			a = &asked[i];
	return a;
}

/* 0, or FIRE_NO_ROUTE. */
static int look_at_results(struct rdma_cm_id *id, const struct rdma_cm_event *event)
{
	struct rdma_addrinfo *list;
	int ret;

	if (rdma_query_addrinfo(id, &list)) {
		fire_complain("%llu results, and none to be had", (unsigned long long)event->param.arg);
		return 0;
	}
	ret = side->look(list);
	if (ret < 0)
		fire_complain("results that nobody gave");
	rdma_freeaddrinfo(list);
	return ret < 0 ? 0 : ret;
}

static void take(struct rdma_cm_event *event, struct outcomes *outcomes)
{
	struct asked *a = asked_by(event->id);
	int status = event->status;
	double late;

	if (!a || a->ended) {
		fire_complain(a ? "a second event" : "an event of an id that is gone");
		rdma_ack_cm_event(event);
		return;
	}
	late = now_ms() - a->began_ms - deadline();
	a->ended = true;
	under_way--;
	if ((event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED) != !status)
		fire_complain("%s with status %d", rdma_event_str(event->event), status);
	if (!status)
		status = look_at_results(event->id, event);
	outcomes_add(outcomes, status);
	if (late > LATE_MS * SLOW)
		fire_complain("%.0f ms later than its deadline", late);
	if (status != fault->status && (!fault->other || status != fault->other))
		fire_complain("%s", status < 0 ? strerrorname_np(-status) : status ? "no route" : "resolves");
	rdma_ack_cm_event(event);
}

/* Whether there was an event within that time. */
static bool turn(int ms, struct outcomes *outcomes)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	bool any = false;

	poll(&p, 1, ms);
	while (!rdma_get_cm_event(channel, &event)) {
		take(event, outcomes);
		any = true;
	}
	return any;
}

/* Until all have ended; a number, which asks nobody, then has the only event that is left. */
static void finish(struct outcomes *outcomes)
{
	double end = now_ms() + deadline() + LATE_MS * SLOW;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	while (under_way && now_ms() < end)
		turn(100, outcomes);
	if (under_way)
		fire_complain("%u without an event", under_way);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) || rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL))
		err(1, "a number");
	while (rdma_get_cm_event(channel, &event) && errno == EAGAIN)
		poll(&(struct pollfd){ .fd = channel->fd, .events = POLLIN }, 1, 1000);
	if (event->id != id)
		fire_complain("an event of another behind the last");
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
	if (!rdma_get_cm_event(channel, &event))
		fire_complain("one event too many");
	destroy_all();
}

static void start(unsigned count)
{
	if (fault->most && count > fault->most)
		count = fault->most;
	for (unsigned i = 0; i < count; i++)
		ask(&asked[i]);
}

/* ---- Situations ---- */

static void one(struct cell *cell)
{
	start(1);
	finish(&cell->here);
}

static void many(struct cell *cell)
{
	start(MANY);
	finish(&cell->here);
}

/* Some at once, some after they were sent: the others have their outcome. */
static void destroyed(struct cell *cell)
{
	start(SOME);
	for (unsigned i = 0; i < SOME; i += 2)
		destroy(&asked[i]);
	turn(20, &cell->here);
	for (unsigned i = 1; i < SOME; i += 4)
		destroy(&asked[i]);
	finish(&cell->here);
}

/* In the child what was in flight starts again; neither disturbs the other. */
static void forked(struct cell *cell)
{
	int status = 0;
	pid_t pid;

	start(FEW);
	turn(5, &cell->here);
	fflush(NULL);
	pid = fork();
	if (!pid) {
#ifndef __SANITIZE_THREAD__
		situation = "in the child";
		for (unsigned i = 0; i < FEW; i++)
			asked[i].began_ms = now_ms();
		finish(&cell->child);
#endif
		_exit(0);
	}
	finish(&cell->here);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fire_complain("the child ended with status %#x", (unsigned)status);
}

static const struct {
	const char *what;
	void (*run)(struct cell *cell);
} situations[SITUATIONS] = {
	{ "one", one }, { "1,000 in flight", many }, { "destroyed meanwhile", destroyed }, { "forked meanwhile", forked },
};

/* ---- What is left ---- */

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Sockets to name servers and ports to the SA, which are kept for a while for those who ask next. */
static unsigned count_idle(void)
{
	struct sockaddr_in peer;
	unsigned count = fire_sa_ports();
	socklen_t len;

	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		len = sizeof(peer);
		if (!getpeername(fd, (struct sockaddr *)&peer, &len) && peer.sin_family == AF_INET &&
		    peer.sin_addr.s_addr == inet_addr(getenv("RAI_DNS_LIAR")))
			count++;
	}
	return count;
}

struct left {
	unsigned descriptors, idle, threads;
	size_t memory;
};

static struct left look(void)
{
	return (struct left){
		.descriptors = count_entries("/proc/self/fd"), .idle = count_idle(),
		.threads = count_entries("/proc/self/task"), .memory = mallinfo2().uordblks,
	};
}

static bool is_as_before(const struct left *now, const struct left *before)
{
	return !now->idle && now->descriptors <= before->descriptors - before->idle && now->threads <= before->threads &&
	       now->memory < before->memory + LEAST_LEFT;
}

/* What is kept for those who ask next goes within ten seconds. */
static void wait_for_rest(const struct left *before)
{
	double end = now_ms() + IDLE_MS * SLOW;
	struct left now = look();
	struct rusage usage;

	situation = "after all";
	while (!is_as_before(&now, before) && now_ms() < end) {
		poll(NULL, 0, 100);
		now = look();
	}
	if (!is_as_before(&now, before))
		fire_complain("%u descriptors, %u of them idle, and %u threads; before %u, %u and %u", now.descriptors, now.idle,
			      now.threads, before->descriptors, before->idle, before->threads);
	if (now.memory >= before->memory + LEAST_LEFT)
		fire_complain("%zu octets more than before", now.memory - before->memory);
	getrusage(RUSAGE_SELF, &usage);
	if (SLOW == 1 && usage.ru_maxrss > MEMORY_MOST / 1024)
		fire_complain("it once took %ld KiB", usage.ru_maxrss);
	if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
		fire_complain("it leaks");
	if (getenv("FIRE_VERBOSE"))
		fprintf(stderr, "%s: %zd octets more, %ld KiB at most\n", fault->what, (ssize_t)(now.memory - before->memory),
			usage.ru_maxrss);
}

/* ---- A fault's process ---- */

static void run_situations(void)
{
	for (unsigned i = 0; i < SITUATIONS; i++) {
		situation = situations[i].what;
		situations[i].run(&row->cells[i]);
	}
}

static void run_fault(void)
{
	const struct fire_fault *of_row = fault;
	struct outcomes ignored = { 0 };
	struct left before;

	alarm(PROCESS_S * SLOW);
	if (side->begin)
		side->begin(fault);
	channel = rdma_create_event_channel();
	if (!channel)
		err(1, "rdma_create_event_channel");
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	/* What is there once, is there: the thread, the host's files, a socket, tables that have grown. */
	situation = "before";
	fault = &side->faults[0];
	if (side->begin)
		side->begin(fault);
	start(MANY);
	finish(&ignored);
	before = look();
	fault = of_row;
	if (side->begin)
		side->begin(fault);
	run_situations();
	sem_post(&shared->places);
	wait_for_rest(&before);
	rdma_destroy_event_channel(channel);
	_exit(0);
}

/* ---- The table ---- */

static void print_outcomes(const struct outcomes *outcomes)
{
	for (unsigned i = 0; i < outcomes->count; i++) {
		int status = outcomes->statuses[i];

		printf("%s", i ? ", or " : "");
		if (status < 0)
			printf("`-%s`", strerrorname_np(-status));
		else
			printf(status ? "no route" : "resolves");
	}
	if (!outcomes->count)
		printf("?");
}

static bool is_same(const struct cell *cell)
{
	return !cell->child.count || (cell->child.count == cell->here.count &&
	       !memcmp(cell->child.statuses, cell->here.statuses, cell->here.count * sizeof(int)));
}

static void print_row(const struct fire_fault *f, const struct row *r)
{
	printf("| %s", f->what);
	if (f->most)
		printf(" (%u in flight)", f->most);
	for (unsigned i = 0; i < SITUATIONS; i++) {
		struct outcomes here = r->cells[i].here;

		/* Whose turn it was is told by the machine. */
		if (i && f->other)
			outcomes_add(&here, f->other);
		printf(" | ");
		print_outcomes(&here);
		if (!is_same(&r->cells[i])) {
			printf(", in the child ");
			print_outcomes(&r->cells[i].child);
		}
	}
	printf(" |\n");
}

static const struct fire_side *const sides[SIDES] = { &fire_names, &fire_services, &fire_routes };

static bool is_wanted(const struct fire_fault *f, const char *words)
{
	return !words || strstr(f->what, words);
}

static void start_faults(unsigned s, const char *words)
{
	for (size_t i = 0; i < sides[s]->count; i++) {
		if (!is_wanted(&sides[s]->faults[i], words))
			continue;
		sem_wait(&shared->places);
		row = &shared->rows[s][i];
		side = sides[s];
		fault = &side->faults[i];
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			run_fault();
		}
	}
}

static bool print_tables(const char *words)
{
	bool well = true;

	for (unsigned s = 0; s < SIDES; s++) {
		printf("%s| %s |", s ? "\n" : "", sides[s]->what);
		for (unsigned i = 0; i < SITUATIONS; i++)
			printf(" %s |", situations[i].what);
		printf("\n|---|---|---|---|---|\n");
		for (size_t i = 0; i < sides[s]->count; i++)
			if (is_wanted(&sides[s]->faults[i], words)) {
				print_row(&sides[s]->faults[i], &shared->rows[s][i]);
				well = well && !shared->rows[s][i].failed;
			}
	}
	return well;
}

int main(int argc, char **argv)
{
	const char *words = argc > 1 ? argv[1] : NULL;
	bool well = true;
	int status;

	if (!getenv("RAI_DNS_LIAR")) {
		warnx("not in the test world with the liar, skipped");
		return 77;
	}
	/* Freed memory that a thread keeps for itself would count as in use. */
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
		execv("/proc/self/exe", argv);
	}
	setenv("RAI_DEVICELESS", "1", 1);
	fire_sa_make();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || sem_init(&shared->places, 1, AT_A_TIME))
		err(1, "shared memory");
	for (unsigned s = 0; s < SIDES; s++)
		start_faults(s, words);
	while (wait(&status) > 0)
		well = well && !status;
	well = print_tables(words) && well;
	fire_sa_done();
	return well ? 0 : 1;
}
