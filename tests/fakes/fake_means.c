/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets one allocation fail, one descriptor, or one thread. */
#include "fake_means.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "ucma/ucma.h"

/* Uses still to succeed before the one that fails, which is at 0; below: calm. */
static atomic_int left = -1;
static atomic_int failing;
static atomic_bool failed;

int fake_means_errno(enum fake_means means)
{
	static const int errors[FAKE_MEANS] = { ENOMEM, EMFILE, EAGAIN };

	return errors[means];
}

static bool fails(enum fake_means means)
{
	if (atomic_load(&failing) != (int)means || atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0)
		return false;
	atomic_store(&failed, true);
	errno = fake_means_errno(means);
	return true;
}

void fake_means_fail(enum fake_means means, unsigned nth)
{
	atomic_store(&failed, false);
	atomic_store(&failing, (int)means);
	atomic_store(&left, (int)nth - 1);
}

bool fake_means_calm(void)
{
	atomic_store(&left, -1);
	return atomic_load(&failed);
}

#define WRAP(means, type, error, name, parameters, ...) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return fails(means) ? (error) : __real_##name(__VA_ARGS__); \
	}

WRAP(FAKE_MEMORY, void *, NULL, malloc, (size_t size), size)
WRAP(FAKE_MEMORY, void *, NULL, calloc, (size_t n, size_t size), n, size)
WRAP(FAKE_MEMORY, void *, NULL, realloc, (void *old, size_t size), old, size)
WRAP(FAKE_MEMORY, void *, NULL, reallocarray, (void *old, size_t n, size_t size), old, n, size)
WRAP(FAKE_MEMORY, char *, NULL, strdup, (const char *text), text)
WRAP(FAKE_DESCRIPTORS, FILE *, NULL, fopen, (const char *path, const char *mode), path, mode)
WRAP(FAKE_DESCRIPTORS, FILE *, NULL, fopen64, (const char *path, const char *mode), path, mode)
WRAP(FAKE_DESCRIPTORS, int, -1, __open64_2, (const char *path, int flags), path, flags)
WRAP(FAKE_DESCRIPTORS, DIR *, NULL, opendir, (const char *path), path)
WRAP(FAKE_DESCRIPTORS, int, -1, socket, (int family, int type, int protocol), family, type, protocol)
WRAP(FAKE_DESCRIPTORS, int, -1, eventfd, (unsigned value, int flags), value, flags)
WRAP(FAKE_DESCRIPTORS, int, -1, epoll_create1, (int flags), flags)
WRAP(FAKE_DESCRIPTORS, int, -1, inotify_init1, (int flags), flags)
WRAP(FAKE_DESCRIPTORS, int, -EMFILE, rcm_ucma_open, (struct rcm_ucma *ret_ucma, int flags), ret_ucma, flags)
WRAP(FAKE_THREADS, int, EAGAIN, pthread_create,
     (pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg), thread, attr, fn, arg)

/* The library makes no file, which would need a mode. */
WRAP(FAKE_DESCRIPTORS, int, -1, open, (const char *path, int flags, ...), path, flags)
WRAP(FAKE_DESCRIPTORS, int, -1, open64, (const char *path, int flags, ...), path, flags)

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int ret;

	if (fails(FAKE_MEMORY))
		return -1;
	va_start(args, format);
	ret = vasprintf(text, format, args);
	va_end(args);
	return ret;
}

/* The same where the library is built with _FORTIFY_SOURCE. */
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
	va_list args;
	int ret;

	(void)flag;
	if (fails(FAKE_MEMORY))
		return -1;
	va_start(args, format);
	ret = vasprintf(text, format, args);
	va_end(args);
	return ret;
}
