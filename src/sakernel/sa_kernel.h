/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own SA resolver (Linux 6.18) as a client of the SA: it needs no access to a umad device.
 *
 * Each question has a descriptor's kernel id of its own, so an application's id is neither bound nor used up by asking.
 * The kernel gives up after two seconds: then, as after any failure that it doesn't explain, our own client over umad
 * is asked where this process may use it, and else the kernel again, until the deadline.
 */
#pragma once

#include "sa/sa.h"
#include "sakernel/probe.h"

extern const struct rcm_sa_ops rcm_sa_kernel;
