/* SPDX-License-Identifier: BSD-2-Clause */
/* A root of a host's files, made for a test, and what every test of the command's parts includes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[] = "/tmp/rai-root.XXXXXX";

/* A file of the root, its directories made on the way. */
static inline void put_file(const char *path, const char *text)
{
	char command[600];
	FILE *file;

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\"", root, path);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s%s", root, path);
	file = fopen(command, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Set up and torn down around each test. */
static inline int make_root(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static inline int remove_root(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}
