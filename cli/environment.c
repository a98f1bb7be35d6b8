/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of the library that mean nothing as they are set. */
#include "environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_milliseconds(const char *text)
{
	return strlen(text) <= 10 && text[strspn(text, "0123456789")] == 0 && strtoull(text, NULL, 10) < UINT32_MAX;
}

static bool is_switch(const char *text)
{
	return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
}

static bool is_level(const char *text)
{
	return strcmp(text, "off") == 0 || strcmp(text, "error") == 0 || strcmp(text, "info") == 0 ||
	       strcmp(text, "trace") == 0;
}

void cli_environment_check(void)
{
	static const struct {
		const char *name;
		bool (*makes_sense)(const char *text);
		const char *sense;
	} variables[] = {
		{ "RAI_LOG", is_level, "error, info and trace do" },
		{ "RAI_DEADLINE_MS", is_milliseconds, "a number of milliseconds does" },
		{ "RAI_SA_KEEP_MS", is_milliseconds, "a number of milliseconds does" },
		{ "RAI_DEVICELESS", is_switch, "0 and 1 do" },
		{ "RAI_STATS", is_switch, "0 and 1 do" },
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = secure_getenv(variables[i].name);

		if (text && *text && !variables[i].makes_sense(text))
			fprintf(stderr, "rai: %s means nothing as it is set; %s\n", variables[i].name,
				variables[i].sense);
	}
}
