/* SPDX-License-Identifier: BSD-2-Clause */
/* Public call: rpoll(), which programs without a single rsocket are linked with too. */
#include <poll.h>
#include <rdma/rdma_cma.h>

_Static_assert(sizeof(nfds_t) == sizeof(unsigned long), "rpoll() is declared without <poll.h>");

/* There are no rsockets here, so all descriptors are the kernel's. */
int rpoll(struct pollfd *fds, unsigned long nfds, int timeout)
{
	return poll(fds, nfds, timeout);
}
