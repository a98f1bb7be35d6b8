/* SPDX-License-Identifier: BSD-2-Clause */
/* Which librdmacm.so.1 this process has, and which one the loader gives to others. */
#include "loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <rdma/rai.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char soname[] = "librdmacm.so.1";

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif
#if __ELF_NATIVE_CLASS == 64
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

int cli_library_own(char *path, size_t size)
{
	char real[PATH_MAX];
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)&rai_version, &info) || !info.dli_fname)
		return -ENOENT;
	if (!realpath(info.dli_fname, real))
		return -errno;
	return snprintf(path, size, "%s", real) < (int)size ? 0 : -ENAMETOOLONG;
}

bool cli_library_same(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The machine that this process is compiled for: the running program's own. */
static uint16_t own_machine(void)
{
	static uint16_t machine;
	ElfW(Ehdr) head;
	int fd;

	if (machine)
		return machine;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head))
		machine = head.e_machine;
	if (fd >= 0)
		close(fd);
	return machine;
}

static bool has_interpreter(int fd, const ElfW(Ehdr) *head)
{
	ElfW(Phdr) program;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)head->e_phoff + (off_t)i * head->e_phentsize;

		if (pread(fd, &program, sizeof(program), at) != (ssize_t)sizeof(program))
			return false;
		if (program.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* Root's process gains nothing by any of these but in a user namespace, where the kernel ignores foreign owners. */
static bool is_privileged(int fd)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return false;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	    ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid()))
		return true;
	return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

int cli_program_read(const char *path, struct cli_program *ret_program)
{
	struct cli_program program = { 0 };
	ElfW(Ehdr) head = { 0 };
	ssize_t len;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = pread(fd, &head, sizeof(head), 0);
	program.is_elf = len >= EI_NIDENT && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
	program.is_our_kind = program.is_elf && len == (ssize_t)sizeof(head) &&
			      head.e_ident[EI_CLASS] == OWN_CLASS && head.e_ident[EI_DATA] == OWN_DATA &&
			      head.e_machine == own_machine();
	program.is_dynamic = program.is_our_kind && has_interpreter(fd, &head);
	program.is_privileged = is_privileged(fd);
	close(fd);
	*ret_program = program;
	return 0;
}

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return 0;
}

int cli_program_find(const char *name, char *path, size_t size)
{
	const char *search = getenv("PATH");
	int rc = -ENOENT;

	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size ? executable(name) : -ENAMETOOLONG;
	if (!*name)
		return -ENOENT;
	search = search ? search : "/bin:/usr/bin";
	for (;; search++) {
		int len = (int)strcspn(search, ":"), found;

		if (snprintf(path, size, "%.*s%s%s", len, search, len ? "/" : "./", name) < (int)size) {
			found = executable(path);
			if (found == 0)
				return 0;
			if (found == -EACCES)
				rc = found;
		}
		search += len;
		if (!*search)
			return rc;
	}
}

/* A line "\tlibrdmacm.so.1 (libc6,x86-64) => FILE", or with an address behind it: is it one, and of our kind? */
static bool line_is_library(const char *line, char *path, size_t size)
{
	struct cli_program program;
	const char *arrow;
	size_t len;

	line += strspn(line, " \t");
	arrow = strstr(line, " => ");
	if (strncmp(line, soname, sizeof(soname) - 1) != 0 || line[sizeof(soname) - 1] != ' ' || !arrow)
		return false;
	arrow += 4;
	len = strcspn(arrow, "\n");
	if (len > 1 && arrow[len - 1] == ')')	/* the loader's list has " (0x7f...)" */
		while (len > 0 && arrow[--len] != ' ')
			;
	if (snprintf(path, size, "%.*s", (int)len, arrow) >= (int)size)
		return false;
	return cli_program_read(path, &program) == 0 && program.is_our_kind;
}

static int read_list(int fd, char *path, size_t size)
{
	char *line = NULL;
	size_t room = 0;
	int rc = -ENOENT;
	FILE *in = fdopen(fd, "r");

	if (!in) {
		close(fd);
		return -ENOMEM;
	}
	while (getline(&line, &room, in) >= 0)
		if (rc == -ENOENT && line_is_library(line, path, size))
			rc = 0;
	free(line);
	fclose(in);
	return rc;
}

int cli_loader_find(char *const argv[], char *const envp[], char *path, size_t size)
{
	posix_spawn_file_actions_t actions;
	int ends[2], rc, status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	rc = -posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		rc = -posix_spawn(&child, argv[0], &actions, NULL, argv, envp);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	rc = read_list(ends[0], path, size);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return rc;
}

static int from_environment(char *path, size_t size)
{
	const char *search = getenv("LD_LIBRARY_PATH");
	struct cli_program program;

	for (; search && *search; search++) {
		int len = (int)strcspn(search, ":;");

		if (snprintf(path, size, "%.*s%s%s", len, search, len ? "/" : "./", soname) < (int)size &&
		    cli_program_read(path, &program) == 0 && program.is_our_kind)
			return 0;
		search += len;
		if (!*search)
			break;
	}
	return -ENOENT;
}

int cli_library_of_loader(char *path, size_t size, const char **ret_by)
{
	static const char *const tools[] = { "/sbin/ldconfig", "/usr/sbin/ldconfig" };

	*ret_by = "LD_LIBRARY_PATH";
	if (from_environment(path, size) == 0)
		return 0;
	*ret_by = "ldconfig";
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		char *const argv[] = { (char *)(uintptr_t)tools[i], (char[]) { "-p" }, NULL };
		char *const envp[] = { (char[]) { "LC_ALL=C" }, NULL };
		int rc;

		if (access(tools[i], X_OK) < 0)
			continue;
		rc = cli_loader_find(argv, envp, path, size);
		return rc == 0 || rc == -ENOENT ? rc : -ENOSYS;
	}
	return -ENOSYS;
}
