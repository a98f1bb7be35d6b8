/* SPDX-License-Identifier: BSD-2-Clause */
/* Which librdmacm.so.1 this process has, and which one the loader gives to others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The file of the library that this process runs with, its links followed: 0 or -errno. */
int cli_library_own(char *path, size_t size);

/*
 * The one that the loader gives to a program of the same kind: from LD_LIBRARY_PATH, else as ldconfig(8) lists it.
 * Links aren't followed. 0; -ENOENT: none; -ENOSYS: ldconfig can't be asked. ret_by: by what, static.
 */
int cli_library_of_loader(char *path, size_t size, const char **ret_by);

/* Whether both are one file. */
bool cli_library_same(const char *one, const char *other);

/* What can be told of a program before it runs. */
struct cli_program {
	bool is_elf;
	bool is_dynamic;	/* it has an interpreter, the loader */
	bool is_our_kind;	/* its class and machine are those of this process */
	bool is_privileged;	/* runs with rights that the caller hasn't: the loader ignores the environment */
};

/* 0 or -errno. */
int cli_program_read(const char *path, struct cli_program *ret_program);

/* The file that execvp(3) would run: 0; -ENOENT: none; -EACCES: one that can't be executed. */
int cli_program_find(const char *name, char *path, size_t size);

/*
 * Runs argv[0], a path, and finds "librdmacm.so.1 => FILE" in what it prints, as ldconfig -p and the loader's list have
 * it; files of another kind of processor are gone by. 0, -ENOENT, or -errno.
 */
int cli_loader_find(char *const argv[], char *const envp[], char *path, size_t size);
