/* SPDX-License-Identifier: BSD-2-Clause */
/* One target a program, in libFuzzer's form; replay.c runs it without libFuzzer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Any bytes; returns 0. A fault is a crash, an assertion, or what a sanitizer says. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
