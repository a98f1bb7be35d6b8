/* SPDX-License-Identifier: BSD-2-Clause */
/* Public call: which version of the library a program runs with. */
#include <rdma/rai.h>

const char *rai_version(void)
{
	return RAI_VERSION;
}
