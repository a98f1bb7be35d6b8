/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of an id: the resolver's are kept here, the kernel's are passed on. */
#include "cm/option.h"

#include <assert.h>
#include <errno.h>
#include <rdma/rai.h>
#include <string.h>

#include "cm/id.h"
#include "cm/kernel.h"
#include "resolve/accept.h"
#include "resolve/resolve.h"

static_assert((int)RAI_SOURCE_CONFIGURED == RCM_DNS_CONFIGURED &&
	      (int)RAI_SOURCE_DNS == RCM_DNS_SERVERS && (int)RAI_SOURCE_HOSTS == RCM_DNS_HOSTS,
	      "the application's numbers are the resolver's");

/* UINT32_MAX ms, 49 days, would read as "not set": it is given as the next shorter one. */
static int option_set_own(struct rcm_options *options, int name, uint32_t value)
{
	switch (name) {
	case RAI_OPTION_DEADLINE_MS:
		options->deadline_ms = value == RCM_DEADLINE_DEFAULT ? value - 1 : value;
		return 0;
	case RAI_OPTION_FRESH:
		if (value > 1)
			return -EINVAL;
		options->fresh = value;
		return 0;
	case RAI_OPTION_SOURCE:
		if (value > RAI_SOURCE_HOSTS)
			return -EINVAL;
		options->source = (enum rcm_dns_source)value;
		return 0;
	default:
		return -ENOSYS;
	}
}

static void option_keep(struct rcm_id *id, int name, const void *value, size_t len)
{
	struct rcm_kernel_option *option = &id->options.of_kernel[name];

	rcm_lock_acquire(&id->lock);
	option->len = (uint8_t)len;
	memcpy(option->value, value, len);
	rcm_lock_release(&id->lock);
}

static int option_set_in_kernel(struct rcm_id *id, int level, int name, const void *value, size_t len)
{
	int ret = rcm_kernel_give(id, rcm_ucma_set_option, level, name, value, len);

	if (!ret && level == RDMA_OPTION_ID && name >= 0 && name < RCM_KERNEL_OPTIONS &&
	    len <= sizeof(id->options.of_kernel->value))
		option_keep(id, name, value, len);
	return ret;
}

int rcm_option_replay(struct rcm_id *id)
{
	struct rcm_options options;
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	options = id->options;
	rcm_lock_release(&id->lock);
	for (int name = 0; name < RCM_KERNEL_OPTIONS && !ret; name++) {
		const struct rcm_kernel_option *option = &options.of_kernel[name];

		if (option->len)
			ret = rcm_kernel_give(id, rcm_ucma_set_option, RDMA_OPTION_ID, name, option->value,
					      (size_t)option->len);
	}
	return ret;
}

/* Of both together one object is made, which lookups under way share as it was. */
static int option_set_accept(struct rcm_id *id, int name, const void *value, size_t len)
{
	struct rcm_accept *old, *made;
	uint32_t full = 0;
	int ret;

	if (name == RAI_OPTION_SERVICE_FULL)
		memcpy(&full, value, len);
	rcm_lock_acquire(&id->lock);
	old = id->options.accept;
	if (name == RAI_OPTION_SERVICE_FULL)
		ret = rcm_accept_new(full, old ? old->gids : NULL, old ? old->count : 0, &made);
	else
		ret = rcm_accept_new(old && old->full, value, (unsigned)(len / sizeof(struct rcm_gid)), &made);
	if (!ret)
		id->options.accept = made;
	rcm_lock_release(&id->lock);
	if (!ret)
		rcm_accept_put(old);
	return ret;
}

static bool option_is_accept(int name, const void *value, size_t len)
{
	uint32_t full = 0;

	if (name == RAI_OPTION_SERVICE_GIDS)
		return !(len % sizeof(struct rcm_gid)) && len / sizeof(struct rcm_gid) <= RCM_ACCEPT_GIDS_MAX;
	if (len == sizeof(full))
		memcpy(&full, value, len);
	return len == sizeof(full) && full <= 1;
}

int rcm_option_set(struct rcm_id *id, int level, int name, const void *value, size_t len)
{
	uint32_t number;
	int ret;

	/* No GIDs are none, wherever they would be. */
	if (!value && !(level == RDMA_OPTION_RAI && name == RAI_OPTION_SERVICE_GIDS && !len))
		return -EINVAL;
	if (level == RDMA_OPTION_ID || level == RDMA_OPTION_IB)
		return option_set_in_kernel(id, level, name, value, len);
	if (level != RDMA_OPTION_RAI || name < RAI_OPTION_DEADLINE_MS || name > RAI_OPTION_SERVICE_FULL)
		return -ENOSYS;
	if (name >= RAI_OPTION_SERVICE_GIDS)
		return option_is_accept(name, value, len) ? option_set_accept(id, name, value, len) : -EINVAL;
	if (len != sizeof(number))
		return -EINVAL;
	memcpy(&number, value, sizeof(number));
	rcm_lock_acquire(&id->lock);
	ret = option_set_own(&id->options, name, number);
	rcm_lock_release(&id->lock);
	return ret;
}
