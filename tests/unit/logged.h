/* SPDX-License-Identifier: BSD-2-Clause */
/* What is logged: the environment is read once a process. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Runs fn in a process of its own, with RAI_LOG and RAI_LOG_FILE as given (NULL: not set). What it wrote to stderr. */
static inline const char *logged_by(void (*fn)(void), const char *level, const char *file)
{
	static char text[8192];
	int fd = memfd_create("log", MFD_CLOEXEC), status = -1;
	ssize_t len;
	pid_t pid = fork();

	if (!pid) {
		unsetenv("RAI_LOG");
		unsetenv("RAI_LOG_FILE");
		if (level)
			setenv("RAI_LOG", level, 1);
		if (file)
			setenv("RAI_LOG_FILE", file, 1);
		dup2(fd, STDERR_FILENO);
		fn();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	len = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(len >= 0);
	text[len] = '\0';
	close(fd);
	return text;
}
