/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's answers to commands, and what failed first. As fake_kernel.h, a caller at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps the first failure; command: its number, or what else is told of it. */
void rcm_fake_fail(const char *what, uint32_t command);
const char *rcm_fake_failure(void);		/* NULL: none */
void rcm_fake_answer_reset(void);

/* Whether a command has an answer; writes it where the command's body says, into room bytes: one that has none must have
 * no room. */
bool rcm_fake_has_answer(uint32_t command);
void rcm_fake_answer(uint32_t command, const uint8_t *body, uint16_t room, const void *answer, size_t len);
