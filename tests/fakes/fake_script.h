/* SPDX-License-Identifier: BSD-2-Clause */
/* The script of the fake: which command comes next, with which bytes, and what it is answered. As fake_kernel.h, a
 * caller at a time. */
#pragma once

#include "fake_ucma.h"

struct fake_file;

/* As rcm_fake_ucma_expect(). */
struct rcm_fake_step *rcm_fake_script_add(uint32_t command);

/* Whether the next step is about this command; and then: what it says of it. */
bool rcm_fake_script_has_next(uint32_t command);
int rcm_fake_script_play(struct fake_file *file, const uint8_t *body, size_t len, uint16_t room);

/* A step that is left is a failure. */
void rcm_fake_script_end(void);
