/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the library's own. */
#include "base/thread.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rights.h"

/* Room for 8,192 processors, the most that Linux can be built for. Written before main(), or by the dlopen(). */
static cpu_set_t processors[8];
static bool processors_known;

/*
 * Now, since later the first thread may be pinned. Not simply all that there are: an administrator may have given the
 * process a part of them (taskset(1)), or keep some from everybody who isn't pinned to them (isolcpus).
 */
__attribute__((constructor)) static void processors_remember(void)
{
	processors_known = !sched_getaffinity(getpid(), sizeof(processors), processors);
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *arg)
{
	size_t *sum = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/* glibc takes thread-local variables out of the stack. */
static size_t stack_with_tls(size_t stack)
{
	dl_iterate_phdr(add_tls, &stack);
	return stack;
}

/* Sandboxes kill who sets a policy or processors (systemd's ~@resources), but not who asks for them. */
static bool thread_is_ordinary(void)
{
	return sched_getscheduler(0) == SCHED_OTHER;
}

static bool thread_has_all_processors(void)
{
	cpu_set_t own[sizeof(processors) / sizeof(*processors)] = { 0 };

	return !processors_known ||
	       (!sched_getaffinity(0, sizeof(own), own) && CPU_EQUAL_S(sizeof(own), own, processors));
}

/* All of it is done by the creator: a thread that inherits a busy processor may never come to do it. What the new one
 * has from it as it should be isn't set. */
static int thread_create(pthread_t *ret_thread, size_t stack, bool own_scheduling, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack_with_tls(stack));
	if (own_scheduling && !thread_is_ordinary()) {
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
		/* Without this glibc takes the creator's priority, which the kernel refuses for SCHED_OTHER. */
		pthread_attr_setschedparam(&attr, &(struct sched_param){ 0 });
	}
	if (own_scheduling && !thread_has_all_processors())
		pthread_attr_setaffinity_np(&attr, sizeof(processors), processors);
	ret = pthread_create(ret_thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return -ret;
}

struct thread_start {
	void *(*fn)(void *arg);
	void *arg;
	bool by_first;			/* the process's first thread starts it, whose rights it has */
};

static void *thread_run(void *arg)
{
	struct thread_start start = *(struct thread_start *)arg;

	free(arg);
	if (!start.by_first)
		rcm_rights_take();
	return start.fn(start.arg);
}

int rcm_thread_start(const char *name, size_t stack, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	struct thread_start *start = malloc(sizeof(*start));
	pthread_t thread;
	int ret;

	if (!start)
		return -ENOMEM;
	*start = (struct thread_start){ .fn = fn, .arg = arg, .by_first = gettid() == getpid() };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = thread_create(&thread, stack, true, thread_run, start);
	/* A sandbox refuses, or the processors were taken away since: one as the caller is better than none. */
	if (ret && ret != -EAGAIN && ret != -ENOMEM)
		ret = thread_create(&thread, stack, false, thread_run, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_setname_np(thread, name);
	else
		free(start);
	return ret;
}
