/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test program does to the fabric it runs in. */
#include "fabric.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "test.h"

extern char **environ;

/* The world's script is no part of the fabric, and no sanitizer's runtime belongs into its shell. */
static int spawn(const char *words)
{
	char command[512], *argv[] = { "sh", "-c", command, NULL }, *environment[256];
	unsigned n = 0;
	pid_t pid;

	assert_non_null(getenv("RAI_FABRIC"));
	snprintf(command, sizeof(command), "exec \"$RAI_FABRIC\" %s", words);
	for (char **e = environ; *e && n < 255; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11))
			environment[n++] = *e;
	environment[n] = NULL;
	assert_int_equal(posix_spawnp(&pid, "sh", NULL, NULL, argv, environment), 0);
	return pid;
}

int rcm_fabric_start(const char *format, ...)
{
	char words[400];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	return spawn(words);
}

int rcm_fabric_wait(int pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int rcm_fabric(const char *format, ...)
{
	char words[400];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	return rcm_fabric_wait(spawn(words));
}

int rcm_fabric_records(const char *host, const char *format, ...)
{
	char options[300];
	va_list args;

	va_start(args, format);
	vsnprintf(options, sizeof(options), format, args);
	va_end(args);
	return rcm_fabric("on %s \"$RAI_FABRIC_PARTS/records\" %s", host, options);
}

/* ibsim numbers the port GUIDs 0x100001, 0x100003, ... in the default prefix. */
void rcm_fabric_gid(unsigned host, unsigned char ret_gid[16])
{
	memset(ret_gid, 0, 16);
	ret_gid[0] = 0xfe;
	ret_gid[1] = 0x80;
	ret_gid[13] = 0x10;
	ret_gid[14] = (unsigned char)((2 * host - 1) >> 8);
	ret_gid[15] = (unsigned char)(2 * host - 1);
}

void rcm_fabric_faults(unsigned lost_percent, unsigned busy_percent)
{
	void (*faults)(unsigned, unsigned) = (void (*)(unsigned, unsigned))dlsym(RTLD_DEFAULT, "rcm_sim_faults");

	assert_non_null(faults);
	faults(lost_percent, busy_percent);
}
