// SPDX-License-Identifier: BSD-2-Clause
// What scripts/mutate compiles into its copy of the source: a byte for each place, in a file that RCM_MUTANTS names.
#ifndef RCM_MUTATE_H
#define RCM_MUTATE_H

// It stands before each file, whose own names may be those of <unistd.h> or <stdlib.h>.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

long syscall(long number, ...) __attribute__((nothrow));
char *getenv(const char *name) __attribute__((nothrow));

enum { RCM_MUTANT_REACHED = 1, RCM_MUTANT_ON = 2, RCM_MUTANT_BYTES = 1 << 16 };

// Weak: one a program, whichever file has it. Inside a program that wraps open(), the fakes shall not see this one.
__attribute__((weak)) unsigned char *rcm_mutants;

__attribute__((weak, constructor(101))) void rcm_mutants_map(void)
{
	const char *path = getenv("RCM_MUTANTS");
	int fd = path && !rcm_mutants ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	void *map = mmap(0, RCM_MUTANT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	syscall(SYS_close, fd);
	if (map != MAP_FAILED)
		rcm_mutants = (unsigned char *)map;
}

__attribute__((unused)) static inline int rcm_mutant(int number)
{
	if (!rcm_mutants)
		return 0;
	unsigned char byte = rcm_mutants[number];

	if (!(byte & RCM_MUTANT_REACHED))
		rcm_mutants[number] = byte | RCM_MUTANT_REACHED;
	return byte & RCM_MUTANT_ON;
}
#endif
