/* SPDX-License-Identifier: BSD-2-Clause */
/* On a real kernel: its events by resolving an address of the guest's own. */
#include "../vm/vm.h"

#include "watch.h"

static struct rdma_cm_id *resolve_near(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(vm_address(), 7471), VM_STEP_MS));
	return id;
}

int main(int argc, char **argv)
{
	static const struct watch_world world = { .rounds = 8, .kernel = resolve_near };

	return watch_main(&world, argc, argv);
}
