/* SPDX-License-Identifier: BSD-2-Clause */
/* Our own SA client over any umad: what rcm_sa_umad is made of, and tests with a scripted one. */
#pragma once

#include "sa/umad.h"

/* As rcm_sa_umad.open(), over these ops; the other calls are rcm_sa_umad's. */
int rcm_client_open(struct rcm_loop *loop, const struct rcm_umad_ops *umad, struct rcm_sa **ret_sa);
