/* SPDX-License-Identifier: BSD-2-Clause */
/* What a question to the SA came to. */
#pragma once

#include <stdio.h>

#include "sa/sa.h"
#include "test.h"

struct heard {
	unsigned calls;
	int status;
	uint16_t mad_status;
	bool too_large;
	unsigned count, total;
	struct rcm_sa_service_record first;
	uint8_t path[64];
	char text[200];
};

/* The completion, into the struct heard that arg is. */
static inline void hear(void *arg, const struct rcm_sa_answer *answer)
{
	struct heard *h = arg;

	h->calls++;
	h->status = answer->status;
	h->mad_status = answer->mad_status;
	h->too_large = answer->too_large;
	h->count = answer->count;
	h->total = answer->total;
	if (answer->services)
		h->first = answer->services[0];
	if (answer->paths)
		memcpy(h->path, answer->paths[0], sizeof(h->path));
	snprintf(h->text, sizeof(h->text), "%s", answer->text ? answer->text : "");
}
