/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks one question at one or several places at once, through the public API, and waits for all the answers. */
#pragma once

#include <rdma/rai.h>
#include <stdint.h>

#include "out.h"
#include "ports.h"

/* Why there is not even a channel. */
#define CLI_NO_DEVICE "no RDMA device, and RAI_DEVICELESS is not 1"

struct cli_question {
	const char *node, *service;		/* NULL: not given */
	struct rdma_addrinfo hints;
	const uint32_t *deadline_ms;		/* NULL: as the library is set up; 0: none */
	const struct cli_port *ports;		/* SA: where to ask; NULL for names */
	size_t places;				/* ports, at most CLI_PORTS_MAX, or 1 for names */
	const struct rai_service_filter *filter;	/* SA: whatever records agree with it; or NULL */
	const struct rai_service_record *remove;	/* SA: to be removed: no list, but a status; or NULL */
	int stop;				/* a descriptor that ends the wait once it is readable; 0: none */
};

/*
 * Fills one answer a place; each holds a list, or a status and words. 0, or -errno where not even a channel could be
 * had, then *ret_step says what failed; -ECANCELED: it was stopped. Lists are freed by cli_answers_free().
 */
int cli_ask(const struct cli_question *question, struct cli_answer *answers, const char **ret_step);

/* One place alone: true where an event of *ret_id, whose context answer is, will follow; else answer says why not. */
bool cli_question_start(struct rdma_event_channel *channel, const struct cli_question *question, size_t place,
			struct cli_answer *answer, struct rdma_cm_id **ret_id);

/* Fills the answer that is the context of the event's id; false: the event ends no resolution. */
bool cli_answer_take(const struct rdma_cm_event *event);

void cli_answers_free(struct cli_answer *answers, size_t count);
