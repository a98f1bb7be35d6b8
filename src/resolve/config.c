/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment sets. */
#include "resolve/config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/question.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct rcm_config config;

/* Anything but a decimal number below 2^32 - 1 counts as not set. */
static uint32_t config_number(const char *name, uint32_t otherwise)
{
	const char *text = secure_getenv(name);
	unsigned long value;

	if (!text || !*text || text[strspn(text, "0123456789")])
		return otherwise;
	value = strtoul(text, NULL, 10);
	return value < UINT32_MAX ? (uint32_t)value : otherwise;
}

static void config_read_environment(void)
{
	config.deadline_ms = config_number("RAI_DEADLINE_MS", RCM_DEADLINE_DEFAULT);
	config.sa_keep_ms = config_number("RAI_SA_KEEP_MS", 0);
}

const struct rcm_config *rcm_config_get(void)
{
	pthread_once(&once, config_read_environment);
	return &config;
}
