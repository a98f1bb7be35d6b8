/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the kernel has an SA resolver that this process may use. */
#include "sakernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "sakernel/attempt.h"

static _Atomic(int) usable = -1;		/* -1: not known yet */

bool rcm_sa_kernel_usable(void)
{
	struct rcm_ucma ucma;
	int known = atomic_load(&usable);

	if (known >= 0)
		return known;
	if (rcm_ucma_open(&ucma, O_NONBLOCK))
		return false;
	/* Of an id that doesn't exist: a kernel without the command says EINVAL before it looks. */
	known = rcm_ucma_resolve_ib_service(&ucma, RCM_ATTEMPT_NO_HANDLE, true, 1, NULL) == -ENOENT;
	rcm_ucma_close(&ucma);
	atomic_store(&usable, known);
	return known;
}

void rcm_sa_kernel_forget(void)
{
	atomic_store(&usable, -1);
}
