/* SPDX-License-Identifier: BSD-2-Clause */
/* From a member back to the structure that holds it. */
#pragma once

#include <stddef.h>

#define rcm_container(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
