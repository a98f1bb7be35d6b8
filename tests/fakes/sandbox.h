/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that are refused from now on, as a sandbox does it: of the whole process, for good. */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum sandbox_way { SANDBOX_REFUSES = SECCOMP_RET_ERRNO, SANDBOX_KILLS = (int)SECCOMP_RET_KILL_PROCESS };

/* Of a call's first argument; any. */
#define SANDBOX_ANY UINT32_MAX

/* False: there is no such thing here. way SANDBOX_REFUSES: the call fails with error. */
static inline bool sandbox_enter(long call, uint32_t argument, enum sandbox_way way, int error)
{
	const uint32_t any = argument == SANDBOX_ANY;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 3),
		/* Of 64 bits, the lower 32. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]) +
			 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)),
		BPF_JUMP(BPF_JMP | (any ? BPF_JGE : BPF_JEQ) | BPF_K, any ? 0 : argument, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, (uint32_t)way | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}
