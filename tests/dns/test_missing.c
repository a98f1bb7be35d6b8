/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names where something that every host has is missing: each case is a process of its own that resolves or is told why not,
 * by an errno or by the event's, and neither hangs nor dies. Prints a table of docs/reliability.md, and holds it against
 * that page. Server: NSD.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fakes/sandbox.h"
#include "../unit/test.h"
#include "user.h"

enum { SECONDS = 60, CELL = 64, CANT_BE_HAD = 77 };

static const char *const nodes[] = { "192.0.2.7", "inhosts", "v4.rai.test" };

enum { NODES = sizeof(nodes) / sizeof(*nodes) };

/* What a process tells of each node. */
struct told {
	int error;			/* 0: it was resolved */
	bool by_event;
};

static struct told *told;

/* ---- What is missing ---- */

static void need(bool had)
{
	if (!had)
		_exit(CANT_BE_HAD);
}

static void hide(const char *folder)
{
	need(!unshare(CLONE_NEWNS) && !mount("tmpfs", folder, "tmpfs", 0, NULL));
}

static void hide_dev(void)
{
	hide("/dev");
}

static void hide_sys(void)
{
	hide("/sys");
}

static void hide_proc(void)
{
	hide("/proc");
}

static void hide_etc(void)
{
	hide("/etc");
}

static void make_root_read_only(void)
{
	need(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	need(open("/rai-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
}

static void limit(int resource, rlim_t most)
{
	need(!setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ most, most }));
}

/* Root may have as many processes as it likes. */
static void limit_processes(void)
{
	limit(RLIMIT_NPROC, 0);
	need(!setgid(65534) && !setuid(65534));
}

static void limit_locked_memory(void)
{
	limit(RLIMIT_MEMLOCK, 0);
}

static void limit_descriptors(void)
{
	closefrom(3);
	limit(RLIMIT_NOFILE, 8);
}

/* As systemd's RestrictAddressFamilies= does where it has no AF_NETLINK. */
static void refuse_netlink(void)
{
	need(sandbox_enter(SYS_socket, AF_NETLINK, SANDBOX_REFUSES, EAFNOSUPPORT));
}

/* Of netlink, and of all other sockets. */
static void refuse_bind(void)
{
	need(sandbox_enter(SYS_bind, SANDBOX_ANY, SANDBOX_REFUSES, EPERM));
}

/* As early in a boot. */
static void refuse_random(void)
{
	need(sandbox_enter(SYS_getrandom, SANDBOX_ANY, SANDBOX_REFUSES, EAGAIN));
}

/* As systemd's SystemCallFilter=~@resources does, by default: whoever makes such a call is killed. */
static void forbid_resources(void)
{
	need(sandbox_enter(SYS_sched_setaffinity, SANDBOX_ANY, SANDBOX_KILLS, 0) &&
	     sandbox_enter(SYS_sched_setscheduler, SANDBOX_ANY, SANDBOX_KILLS, 0));
}

static void refuse_many_messages(void)
{
	need(sandbox_enter(SYS_recvmmsg, SANDBOX_ANY, SANDBOX_REFUSES, EPERM) &&
	     sandbox_enter(SYS_sendmmsg, SANDBOX_ANY, SANDBOX_REFUSES, EPERM));
}

static const struct {
	const char *what;
	void (*take)(void);
} cases[] = {
	{ "nothing", NULL },
	{ "`/dev`, and with it urandom", hide_dev },
	{ "`/sys`", hide_sys },
	{ "`/proc`", hide_proc },
	{ "`/etc`", hide_etc },
	{ "a root that can be written to", make_root_read_only },
	{ "threads (`RLIMIT_NPROC` 0)", limit_processes },
	{ "locked memory (`RLIMIT_MEMLOCK` 0)", limit_locked_memory },
	{ "descriptors (`RLIMIT_NOFILE` 8)", limit_descriptors },
	{ "netlink (a sandbox refuses `AF_NETLINK`)", refuse_netlink },
	{ "`bind()` (a sandbox refuses it)", refuse_bind },
	{ "random numbers (`getrandom()` has none yet)", refuse_random },
	{ "`recvmmsg()` and `sendmmsg()` (a sandbox refuses them)", refuse_many_messages },
	{ "setting a scheduler (a sandbox kills who does)", forbid_resources },
};

/* ---- What becomes of names ---- */

static struct told ask(struct rdma_event_channel *channel, const char *node)
{
	struct told result = { 0 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return (struct told){ errno, false };
	if (rdma_resolve_addrinfo(id, node, NULL, NULL)) {
		result.error = errno;
	} else if (rdma_get_cm_event(channel, &event)) {
		result.error = errno;
	} else {
		result = (struct told){ -event->status, event->status != 0 };
		rdma_ack_cm_event(event);
	}
	rdma_destroy_id(id);
	return result;
}

static void run_child(void (*take)(void))
{
	struct rdma_event_channel *channel;

	alarm(SECONDS);
	if (take)
		take();
	channel = rdma_create_event_channel();
	for (unsigned i = 0; i < NODES; i++)
		told[i] = channel ? ask(channel, nodes[i]) : (struct told){ errno, false };
	if (channel)
		rdma_destroy_event_channel(channel);
	_exit(0);
}

static void cell_write(char cell[CELL], struct told one)
{
	if (one.error)
		snprintf(cell, CELL, "`%s`%s", strerrorname_np(one.error), one.by_event ? " in the event" : "");
	else
		snprintf(cell, CELL, "resolves");
}

static bool is_documented(const char *line)
{
	const char *path = getenv("RAI_RELIABILITY");
	FILE *file = path ? fopen(path, "re") : NULL;
	bool found = !path;
	char text[512];

	while (file && !found && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		found = !strcmp(text, line);
	}
	if (file)
		fclose(file);
	return found;
}

static bool run_case(const char *what, void (*take)(void))
{
	char cells[NODES][CELL], line[512];
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		run_child(take);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANT_BE_HAD) {
		printf("%s: can't be taken away here\n", what);
		return true;
	}
	for (unsigned i = 0; i < NODES; i++)
		cell_write(cells[i], told[i]);
	snprintf(line, sizeof(line), "| %s | %s | %s | %s |", what, cells[0], cells[1], cells[2]);
	printf("%s%s\n", line, status ? " and dies" : "");
	return !status && is_documented(line);
}

static void test_names_where_something_is_missing_resolve_or_say_why(void **state)
{
	bool well = true;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		well = run_case(cases[i].what, cases[i].take) && well;
	assert_true(well);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_where_something_is_missing_resolve_or_say_why),
	};

	if (access("/etc/rai-dns-world", F_OK))
		return 77;
	setenv("RAI_DEVICELESS", "1", 1);
	told = mmap(NULL, NODES * sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
