/* SPDX-License-Identifier: BSD-2-Clause */
/* A copy of what the environment says. */
#include "dns/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct rcm_environment environment;

/* 0 or -ENOMEM. */
static int environment_copy(const char *variable, char **ret_value)
{
	const char *value = secure_getenv(variable);

	*ret_value = value ? strdup(value) : NULL;
	return value && !*ret_value ? -ENOMEM : 0;
}

static void environment_free(const struct rcm_environment *old)
{
	free(old->domains);
	free(old->options);
}

int rcm_environment_take(void)
{
	struct rcm_environment taken = { .aliases = secure_getenv("HOSTALIASES") };
	int ret;

	ret = environment_copy("LOCALDOMAIN", &taken.domains);
	if (!ret)
		ret = environment_copy("RES_OPTIONS", &taken.options);
	environment_free(ret ? &taken : &environment);
	if (!ret)
		environment = taken;
	return ret;
}

const struct rcm_environment *rcm_environment_get(void)
{
	return &environment;
}
