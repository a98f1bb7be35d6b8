/* SPDX-License-Identifier: BSD-2-Clause */
/* The script of the fake: which command comes next, with which bytes, and what it is answered. */
#include "fake_script.h"

#include <stdio.h>
#include <sys/queue.h>

#include "fake_answer.h"
#include "fake_kernel.h"
#include "test.h"

enum { CHECKS = 12 };

struct check {
	size_t offset, len;
	uint8_t bytes[272];
};

struct rcm_fake_step {
	TAILQ_ENTRY(rcm_fake_step) link;
	uint32_t command;
	unsigned n_checks;
	struct check checks[CHECKS];
	int error;
	size_t answer_len;
	uint8_t *answer;
};

static TAILQ_HEAD(, rcm_fake_step) script = TAILQ_HEAD_INITIALIZER(script);

static void step_free(struct rcm_fake_step *step)
{
	TAILQ_REMOVE(&script, step, link);
	free(step->answer);
	free(step);
}

/* An id's life is followed in scripted commands too, so that events find it. */
static void step_follow(struct fake_file *file, const struct rcm_fake_step *step, const uint8_t *body)
{
	uint32_t handle;

	if (step->command == RDMA_USER_CM_CMD_CREATE_ID && step->answer_len >= sizeof(handle)) {
		memcpy(&handle, step->answer, sizeof(handle));
		rcm_fake_kernel_add(handle, ((const struct rdma_ucm_create_id *)(const void *)body)->uid, file);
	}
}

static void step_check(const struct rcm_fake_step *step, const uint8_t *body, size_t len)
{
	for (unsigned i = 0; i < step->n_checks; i++) {
		const struct check *c = &step->checks[i];

		if (c->offset + c->len > len || memcmp(body + c->offset, c->bytes, c->len)) {
			char what[64];

			snprintf(what, sizeof(what), "wrong bytes at %zu, %zu long", c->offset, c->len);
			rcm_fake_fail(what, step->command);
		}
	}
}

bool rcm_fake_script_has_next(uint32_t command)
{
	const struct rcm_fake_step *step = TAILQ_FIRST(&script);

	return step && step->command == command;
}

int rcm_fake_script_play(struct fake_file *file, const uint8_t *body, size_t len, uint16_t room)
{
	struct rcm_fake_step *step = TAILQ_FIRST(&script);
	int ret = -step->error;

	step_check(step, body, len);
	if (!ret && step->answer) {
		step_follow(file, step, body);
		rcm_fake_answer(step->command, body, room, step->answer, step->answer_len);
	} else if (!ret) {
		ret = rcm_fake_kernel_serve(file, step->command, body, room);
	}
	step_free(step);
	return ret;
}

void rcm_fake_script_end(void)
{
	struct rcm_fake_step *step;

	while ((step = TAILQ_FIRST(&script))) {
		rcm_fake_fail("a step was not played", step->command);
		step_free(step);
	}
}

struct rcm_fake_step *rcm_fake_script_add(uint32_t command)
{
	struct rcm_fake_step *step = calloc(1, sizeof(*step));

	assert_non_null(step);
	step->command = command;
	TAILQ_INSERT_TAIL(&script, step, link);
	return step;
}

void rcm_fake_step_bytes(struct rcm_fake_step *step, size_t offset, const void *bytes, size_t len)
{
	struct check *c = &step->checks[step->n_checks++];

	assert_uint_in_range(step->n_checks, 1, CHECKS);
	assert_uint_in_range(len, 1, sizeof(c->bytes));
	c->offset = offset;
	c->len = len;
	memcpy(c->bytes, bytes, len);
}

void rcm_fake_step_answer(struct rcm_fake_step *step, const void *answer, size_t len)
{
	step->answer = malloc(len);
	assert_non_null(step->answer);
	memcpy(step->answer, answer, len);
	step->answer_len = len;
}

void rcm_fake_step_error(struct rcm_fake_step *step, int error)
{
	step->error = error;
}
