/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the library's own, which are guests in the application's process. */
#pragma once

#include <stddef.h>

/*
 * Starts a detached thread of that name (at most 15 characters), which runs fn. Whatever the calling thread is, the new
 * one takes no signals, has the users and groups of the process's first thread (base/rights.h), is of the ordinary
 * scheduling policy, and may run on every processor that the process was
 * given: those of its first thread when the library was loaded. What is so anyway isn't set: a sandbox may kill who
 * does. stack: bytes, beside what the process's thread-local variables take. fn must not return before this does: the
 * thread is named last. 0, -EAGAIN, -ENOMEM. Any thread.
 */
int rcm_thread_start(const char *name, size_t stack, void *(*fn)(void *arg), void *arg);
