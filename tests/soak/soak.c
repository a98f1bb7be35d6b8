/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steady load for as long as is wanted, while faults come and go. Rounds: trouble of some kind for three seconds, then
 * none, then rest, in which memory, descriptors and threads are looked at: they have to be the same in the end as at first.
 * Whatever happens, each resolution that was started ends once, by its deadline, and in peace as it should.
 *
 * usage: soak SECONDS FOLDER: writes FOLDER/samples.csv, prints what was done and the verdict; exit status 1 where
 * something grew or a promise was broken. In scripts/dns/world, without a server.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../fire/fire.h"

enum { IDS = 256, NAMES = 40, A_SECOND = 400, DEADLINE_MS = 15000 * SLOW, SA_DEADLINE_MS = 4000 * SLOW, LATE_MS = 5000 * SLOW, SOON_MS = 300 };
enum { TROUBLE_MS = 3000, PEACE_MS = 3000, FORK_MS = 1000, SAMPLE_MS = 1000, CHILD_S = 60 * SLOW };
enum { RESTS_MAX = 100000, HEAP_MORE = 64 << 10, RSS_MORE_KIB = 1024, DESCRIPTORS_MORE = 2 };

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static unsigned broken;

void fire_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	broken++;
}

/* ---- Trouble ---- */

static pid_t server;

/* Until it takes connections. */
static void server_start(void)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = inet_addr("127.0.0.5") };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fflush(NULL);
	server = fork();
	if (!server) {
		execl(getenv("RAI_LIAR"), "liar", "127.0.0.5", NULL);
		_exit(1);
	}
	while (connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		poll(NULL, 0, 10);
	close(fd);
}

static void server_kill(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static void server_stop(void)
{
	kill(server, SIGSTOP);
}

static void server_continue(void)
{
	kill(server, SIGCONT);
}

static void write_file(const char *path, const char *text)
{
	char temporary[64];
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	if (!file)
		err(1, "%s", temporary);
	fputs(text, file);
	fclose(file);
	if (rename(temporary, path))
		err(1, "%s", path);
}

#define HOSTS "127.0.0.1 localhost\n192.0.2.77 inhosts\n"
#define SERVER "nameserver 127.0.0.5\noptions timeout:2 attempts:2\n"

static void files_usual(void)
{
	write_file("/etc/hosts", HOSTS);
	write_file("/etc/resolv.conf", SERVER);
}

static void server_none(void)
{
	write_file("/etc/resolv.conf", "nameserver 127.0.0.99\noptions timeout:1 attempts:2\n");
}

static void files_change(void)
{
	write_file("/etc/hosts", HOSTS "192.0.2.78 another\n");
	write_file("/etc/resolv.conf", SERVER "options edns0\nsearch liar.test\n");
}

static void sa_does(const char *how)
{
	struct fire_fault fault = { .how = how };

	fire_services.begin(&fault);
}

static void sa_silent(void)
{
	sa_does("silent");
}

static void sa_busy(void)
{
	sa_does("status-1");
}

static void sa_late(void)
{
	sa_does("delay-700");
}

static void sa_resets(void)
{
	sa_does("reset-20");
}

static void sa_well(void)
{
	sa_does("well");
}

static void link_down(void)
{
	fire_sa_link(false);
}

static void link_up(void)
{
	fire_sa_link(true);
}

static const struct trouble {
	const char *what;
	void (*begin)(void), (*end)(void);
	bool of_names, of_sa;		/* whose outcomes may be other ones meanwhile */
} troubles[] = {
	{ "name server stopped", server_stop, server_continue, .of_names = true },
	{ "SA silent", sa_silent, sa_well, .of_sa = true },
	{ "name server gone and back", server_kill, server_start, .of_names = true },
	{ "link down", link_down, link_up, .of_sa = true },
	{ "wrong name server configured", server_none, files_usual, .of_names = true },
	{ "SA busy", sa_busy, sa_well, .of_sa = true },
	{ "files of the host changed", files_change, files_usual },
	{ "SA late", sa_late, sa_well, .of_sa = true },
	{ "umad device fails", sa_resets, sa_well, .of_sa = true },
};

enum { TROUBLES = sizeof(troubles) / sizeof(*troubles) };

static const struct trouble *trouble;	/* NULL: peace */

/* ---- Load ---- */

static const struct kind {
	const char *name;		/* with a number; NULL: a service of the SA */
	int status;
	unsigned deadline_ms;
	bool asks_nobody;
	bool by_tcp;			/* for which the server forks: it may take too long */
} kinds[] = {
	{ "192.0.2.7", 0, DEADLINE_MS, .asks_nobody = true },
	{ "inhosts", 0, DEADLINE_MS, .asks_nobody = true },
	{ "live-%u.liar.test", 0, DEADLINE_MS }, { "live-%u.liar.test", 0, DEADLINE_MS },
	{ "live-%u.liar.test", 0, DEADLINE_MS }, { "delay-30-%u.liar.test", 0, DEADLINE_MS },
	{ "shuffle-40-%u.liar.test", 0, DEADLINE_MS }, { "twice-%u.liar.test", 0, DEADLINE_MS },
	{ "uncalled-3-%u.liar.test", 0, DEADLINE_MS }, { "tcp-%u.liar.test", 0, DEADLINE_MS, .by_tcp = true },
	{ "many-40-%u.liar.test", 0, DEADLINE_MS }, { "nxdomain-%u.liar.test", -ENOENT, DEADLINE_MS },
	{ "nodata-%u.liar.test", -ENODATA, DEADLINE_MS }, { "servfail-%u.liar.test", -EAGAIN, DEADLINE_MS },
	{ "lame-%u.liar.test", -EIO, DEADLINE_MS }, { "half-%u.liar.test", -EAGAIN, DEADLINE_MS, .by_tcp = true },
	{ "silent-%u.liar.test", -ETIMEDOUT, SOON_MS }, { "wrongid-%u.liar.test", -ETIMEDOUT, SOON_MS },
	{ NULL, 0, SA_DEADLINE_MS }, { NULL, 0, SA_DEADLINE_MS }, { NULL, 0, SA_DEADLINE_MS },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct asked {
	struct rdma_cm_id *id;
	const struct kind *kind;	/* NULL: nothing is under way */
	bool troubled, cancelled;
	double began_ms;
};

static struct rdma_event_channel *channel;
static struct asked ids[IDS];
static struct { unsigned long started, resolved, failed, cancelled, destroyed, ids, forks; } count;
static unsigned under_way;

static bool chance(unsigned one_in)
{
	return !(rand() % (int)one_in);
}

static bool is_troubled(const struct kind *kind)
{
	return trouble && !kind->asks_nobody && (kind->name ? trouble->of_names : trouble->of_sa);
}

static int start(struct asked *a, const struct kind *kind)
{
	uint32_t ms = kind->deadline_ms;
	char name[128];

	if (rdma_set_option(a->id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)))
		return -errno;
	if (!kind->name)
		return fire_services.ask(a->id, NULL, (unsigned)rand() % NAMES);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(name, sizeof(name), kind->name, (unsigned)rand() % NAMES);
#pragma GCC diagnostic pop
	return rdma_resolve_addrinfo(a->id, name, NULL, NULL) ? -errno : 0;
}

static void destroy(struct asked *a)
{
	count.destroyed += !!a->kind;
	under_way -= !!a->kind;
	rdma_destroy_id(a->id);
	*a = (struct asked){ 0 };
}

static void ask(struct asked *a, const struct kind *kind)
{
	int ret;

	/* A service takes an id that isn't bound yet. */
	if (a->id && (!kind->name || chance(4)))
		destroy(a);
	if (!a->id && rdma_create_id(channel, &a->id, a, RDMA_PS_IB))
		err(1, "rdma_create_id");
	count.ids++;
	ret = start(a, kind);
	if (ret) {
		if (!is_troubled(kind))
			fire_complain("%s is refused: %s", kind->name ? kind->name : "a service", strerrorname_np(-ret));
		return;
	}
	a->kind = kind;
	a->troubled = a->cancelled = false;
	a->began_ms = now_ms();
	count.started++;
	under_way++;
}

static void check_outcome(const struct asked *a, const struct rdma_cm_event *event)
{
	int status = event->status;
	char text[256];

	const char *what = a->kind->name ? a->kind->name : "a service";

	if (now_ms() - a->began_ms > a->kind->deadline_ms + LATE_MS)
		fire_complain("%s %.0f ms after its deadline", what, now_ms() - a->began_ms - a->kind->deadline_ms);
	if (status == a->kind->status || (a->cancelled && status == -ECANCELED) ||
	    (a->kind->by_tcp && status == -ETIMEDOUT))
		return;
	/* No error but those that the contract has for such trouble. */
	if (a->troubled && (status == -ETIMEDOUT || status == -EAGAIN || status == -EIO || status == -EBUSY ||
			    status == -ENETDOWN || status == -ENODEV))
		return;
	rai_event_text(event, text, sizeof(text));
	fire_complain("%s%s: %s after %.0f ms: %s", what, a->troubled ? " in trouble" : " in peace",
		      strerrorname_np(-status), now_ms() - a->began_ms, text);
}

static void take(struct rdma_cm_event *event)
{
	struct asked *a = NULL;
	struct rdma_addrinfo *list;

	for (unsigned i = 0; i < IDS && !a; i++)
		if (ids[i].id == event->id)
			a = &ids[i];
	if (!a || !a->kind) {
		fire_complain(a ? "a second event" : "an event of an id that is gone");
		rdma_ack_cm_event(event);
		return;
	}
	check_outcome(a, event);
	count.resolved += !event->status;
	count.failed += event->status && event->status != -ECANCELED;
	count.cancelled += event->status == -ECANCELED;
	if (!event->status && chance(2)) {
		if (rdma_query_addrinfo(event->id, &list))
			fire_complain("no results");
		else
			rdma_freeaddrinfo(list);
	}
	a->kind = NULL;
	under_way--;
	rdma_ack_cm_event(event);
}

static void turn(int ms)
{
	struct rdma_cm_event *event;

	poll(&(struct pollfd){ .fd = channel->fd, .events = POLLIN }, 1, ms);
	while (!rdma_get_cm_event(channel, &event))
		take(event);
}

/* Whoever is under way in trouble is told so afterwards, too. */
static void mark_troubled(void)
{
	for (unsigned i = 0; i < IDS; i++)
		if (ids[i].kind && is_troubled(ids[i].kind))
			ids[i].troubled = true;
}

/* ---- A child now and then, which resolves by itself ---- */

#ifdef __SANITIZE_THREAD__	/* which allows no threads after a fork */
static int live_as_child(void)
{
	return 0;
}
#else
static int live_as_child(void)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	alarm(CHILD_S);
	if (!own || rdma_create_id(own, &id, NULL, RDMA_PS_TCP) || rdma_resolve_addrinfo(id, "inhosts", NULL, NULL) ||
	    rdma_get_cm_event(own, &event) || event->status)
		return 1;
	rdma_ack_cm_event(event);
	return 0;
}
#endif

static void fork_one(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(live_as_child());
	count.forks += pid > 0;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid != server && status)
			fire_complain("a child ended with status %#x", (unsigned)status);
}

/* ---- What is looked at ---- */

struct sample {
	double heap, rss_kib, descriptors, threads;
};

static struct sample rests[RESTS_MAX];
static unsigned rest_count;
static FILE *samples;
static double began_ms;

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2 - !strcmp(path, "/proc/self/fd");
}

static struct sample look(const char *phase)
{
	struct sample s = { .heap = (double)mallinfo2().uordblks };
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		err(1, "/proc/self/statm");
	fclose(file);
	s.rss_kib = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
	s.descriptors = count_entries("/proc/self/fd");
	s.threads = count_entries("/proc/self/task");
	fprintf(samples, "%.1f,%s,%.0f,%.0f,%.0f,%.0f,%u,%lu\n", (now_ms() - began_ms) / 1e3, phase, s.rss_kib, s.heap / 1024,
		s.descriptors, s.threads, under_way, count.started);
	fflush(samples);
	return s;
}

static void load(double ms)
{
	static double next_fork, next_sample, due;
	double end = now_ms() + ms, last = now_ms(), now;

	while ((now = now_ms()) < end) {
		due += (now - last) * A_SECOND / 1e3;
		due = due < IDS ? due : IDS;
		last = now;
		for (; due >= 1; due--) {
			struct asked *a = &ids[rand() % IDS];

			if (!a->kind)
				ask(a, &kinds[rand() % KINDS]);
			else if (chance(20))
				destroy(a);
			else if (chance(20) && !rai_cancel(a->id))
				a->cancelled = true;
		}
		mark_troubled();
		if (now >= next_fork) {
			fork_one();
			next_fork = now + FORK_MS;
		}
		if (now >= next_sample) {
			look(trouble ? trouble->what : "peace");
			next_sample = now + SAMPLE_MS;
		}
		turn(5);
		reap();
	}
}

/* All ends. */
static void wait_for_all(void)
{
	double end = now_ms() + DEADLINE_MS + LATE_MS;

	while (under_way && now_ms() < end)
		turn(100);
	for (unsigned i = 0; i < IDS; i++) {
		if (ids[i].kind)
			fire_complain("%s: no event", ids[i].kind->name ? ids[i].kind->name : "a service");
		if (ids[i].id)
			destroy(&ids[i]);
	}
}

/* Then everything is as it always is, but for what is kept for a while. */
static void rest(void)
{
	wait_for_all();
	if (rest_count < RESTS_MAX)
		rests[rest_count++] = look("rest");
}

/* Whoever comes first after the host's files were changed waits until they were read; others for 0.1 s alone, and go on
 * with what was read before. */
static void settle(void)
{
	static const struct kind first = { "live-%u.liar.test", 0, DEADLINE_MS };

	ask(&ids[0], &first);
	wait_for_all();
}

static void one_round(unsigned number)
{
	trouble = &troubles[number % TROUBLES];
	trouble->begin();
	load(TROUBLE_MS);
	trouble->end();
	mark_troubled();
	rest();
	trouble = NULL;
	settle();
	load(PEACE_MS);
	rest();
}

/* ---- The verdict ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of a figure (the offset of it) in some rests. */
static double median(size_t figure, unsigned from, unsigned to)
{
	static double values[RESTS_MAX];

	for (unsigned i = from; i < to; i++)
		memcpy(&values[i - from], (const char *)&rests[i] + figure, sizeof(double));
	qsort(values, to - from, sizeof(*values), compare);
	return values[(to - from) / 2];
}

/* The medians of the second fifth and of the last. */
static bool is_flat(const char *what, size_t figure, double more)
{
	unsigned fifth = rest_count / 5;
	double first = median(figure, fifth, 2 * fifth), last = median(figure, rest_count - fifth, rest_count);
	bool flat = last <= first + more;

	printf("%-16s %10.0f %10.0f   %s\n", what, first, last, flat ? "flat" : "grows");
	return flat;
}

static bool judge(void)
{
	bool flat = true;

	printf("%lu resolutions: %lu found, %lu failed as they should, %lu cancelled, %lu destroyed; %lu forks, %u rests\n",
	       count.started, count.resolved, count.failed, count.cancelled, count.destroyed, count.forks, rest_count);
	if (count.started != count.resolved + count.failed + count.cancelled + count.destroyed)
		fire_complain("the sum is another");
	if (rest_count < 10) {
		printf("too short for a verdict on memory\n");
	} else {
		printf("%-16s %10s %10s\n", "at rest", "at first", "at last");
		flat = is_flat("heap, octets", offsetof(struct sample, heap), HEAP_MORE) && flat;
		flat = is_flat("resident, KiB", offsetof(struct sample, rss_kib), RSS_MORE_KIB * SLOW) && flat;
		flat = is_flat("descriptors", offsetof(struct sample, descriptors), DESCRIPTORS_MORE) && flat;
		flat = is_flat("threads", offsetof(struct sample, threads), 0) && flat;
	}
	printf("verdict: %s, %u promises broken\n", flat ? "flat" : "it grows", broken);
	return flat && !broken;
}

int main(int argc, char **argv)
{
	char path[512];
	bool well;

	if (argc != 3)
		errx(2, "usage: soak SECONDS FOLDER");
	if (access("/etc/rai-dns-world", F_OK)) {
		warnx("not in the test world, skipped");
		return 77;
	}
	/* Freed memory that a thread keeps for itself would count as in use. */
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
		execv("/proc/self/exe", argv);
	}
	snprintf(path, sizeof(path), "%s/samples.csv", argv[2]);
	samples = fopen(path, "we");
	if (!samples)
		err(1, "%s", path);
	fprintf(samples, "seconds,phase,resident_kib,heap_kib,descriptors,threads,under_way,started\n");
	setenv("RAI_DEVICELESS", "1", 1);
	fire_sa_make();
	sa_well();
	files_usual();
	server_start();
	channel = rdma_create_event_channel();
	if (!channel)
		err(1, "rdma_create_event_channel");
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	began_ms = now_ms();
	for (unsigned i = 0; now_ms() - began_ms < strtod(argv[1], NULL) * 1e3; i++)
		one_round(i);
	well = judge();
	server_kill();
	while (wait(NULL) > 0)
		;
	rdma_destroy_event_channel(channel);
	fire_sa_done();
	return well ? 0 : 1;
}
