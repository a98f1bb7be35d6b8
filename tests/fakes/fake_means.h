/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets one allocation fail, one descriptor that is opened, or one thread that is started. For a program linked with
 * FAKE_MEANS of tests/unit/meson.build; fakes that are built with __real_ names are spared.
 */
#pragma once

#include <stdbool.h>

enum fake_means { FAKE_MEMORY, FAKE_DESCRIPTORS, FAKE_THREADS, FAKE_MEANS };

/* What a call says that has none: ENOMEM, EMFILE, EAGAIN. */
int fake_means_errno(enum fake_means means);

/* The nth use of these means from now (1: the next), by any thread, fails; 0: none does. */
void fake_means_fail(enum fake_means means, unsigned nth);

/* No more failures. True where one has failed since fake_means_fail(). */
bool fake_means_calm(void);
