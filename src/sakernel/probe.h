/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the kernel has an SA resolver that this process may use. */
#pragma once

#include <stdbool.h>

/* Whether this kernel has the command, and this process may give it. Asked once, of the kernel alone. Any thread. */
bool rcm_sa_kernel_usable(void);

/* For tests: asks again. */
void rcm_sa_kernel_forget(void);
