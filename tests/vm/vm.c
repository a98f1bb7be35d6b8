/* SPDX-License-Identifier: BSD-2-Clause */
/* The runner of the guest's programs: a process and a time limit for each test, one line of outcome. */
#include "vm.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>

enum { WHY_MAX = 400, SKIPPED = 77 };

/* Where a test's process says why it ends. */
static int why_fd = -1;

static void say(const char *text)
{
	if (why_fd < 0)
		fprintf(stderr, "%s\n", text);
	else if (write(why_fd, text, strlen(text)) < 0)
		_exit(2);
}

_Noreturn void vm_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	char text[WHY_MAX];
	va_list args;
	int len;

	len = snprintf(text, sizeof(text), "%s:%d: ", base ? base + 1 : file, line);
	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
	va_end(args);
	say(text);
	_exit(1);
}

_Noreturn void vm_skip(const char *why)
{
	say(why);
	_exit(SKIPPED);
}

uint64_t vm_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static _Noreturn void run_in_child(const struct vm_test *test, int fd)
{
	why_fd = fd;
	test->run();
	exit(0);	/* not _exit(): the sanitizers look for leaks on the way out */
}

static unsigned int seconds_of(const struct vm_test *test)
{
	return test->seconds ? test->seconds : 20;
}

/* What a test that hangs waits in, thread by thread; what its connections and queue pairs are in; stacks where gdb is. */
static void hang_tell(pid_t child)
{
	char command[400];

	fflush(stdout);
	snprintf(command, sizeof(command),
		 "exec >&2; for t in /proc/%d/task/*; do echo $t; cat $t/comm $t/syscall $t/stack; done;"
		 " rdma resource show cm_id; rdma resource show qp; rdma statistic show;"
		 " ! command -v gdb > /dev/null || gdb -p %d -batch -ex 'thread apply all bt' 2> /dev/null",
		 child, child);
	if (system(command) < 0)
		perror("sh");
}

/* Reads all that the child says, as long as its test may take. Returns false where it took longer: the child is ended. */
static bool hear(const struct vm_test *test, pid_t child, int fd, char *why, uint64_t began)
{
	uint64_t limit = began + seconds_of(test) * UINT64_C(1000000);
	struct pollfd said = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t got = 1;

	while (len < WHY_MAX && got > 0) {
		uint64_t now = vm_now_us();

		if (now >= limit) {
			hang_tell(child);
			kill(child, SIGKILL);
			return false;
		}
		if (poll(&said, 1, (int)((limit - now) / 1000) + 1) <= 0)
			continue;
		got = read(fd, why + len, WHY_MAX - len);
		if (got > 0)
			len += (size_t)got;
	}
	return true;
}

/* Returns 1 when the test failed. */
static int report(const struct vm_test *test, pid_t child, int fd, uint64_t began)
{
	char why[WHY_MAX + 1] = "";
	bool ended = hear(test, child, fd, why, began);
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		return printf("not ok %s # hang: not done in %u s\n", test->name, seconds_of(test)), 1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return printf("ok %s (%llu ms)\n", test->name,
			      (unsigned long long)(vm_now_us() - began) / 1000), 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		return printf("ok %s # SKIP %s\n", test->name, why), 0;
	if (WIFEXITED(status) && *why)
		printf("not ok %s # %s\n", test->name, why);
	else if (WIFEXITED(status))
		printf("not ok %s # the process ended with %d (a sanitizer's report?)\n", test->name,
		       WEXITSTATUS(status));
	else
		printf("not ok %s # %s\n", test->name, strsignal(WTERMSIG(status)));
	return 1;
}

static int run_one(const struct vm_test *test)
{
	uint64_t began = vm_now_us();
	int fds[2], failed;
	pid_t child;

	fflush(stdout);
	if (pipe(fds) || (child = fork()) < 0)
		return printf("not ok %s # %s\n", test->name, strerror(errno)), 1;
	if (child == 0) {
		close(fds[0]);
		run_in_child(test, fds[1]);
	}
	close(fds[1]);
	failed = report(test, child, fds[0], began);
	close(fds[0]);
	fflush(stdout);
	return failed;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc < 2;
}

int vm_main(const struct vm_test *tests, size_t count, int argc, char **argv)
{
	int failed = 0;
	bool list = argc == 2 && !strcmp(argv[1], "--list");

	for (size_t i = 0; i < count; i++) {
		if (list)
			puts(tests[i].name);
		else if (wanted(tests[i].name, argc, argv))
			failed |= run_one(&tests[i]);
	}
	return failed;
}
