/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes for bpftrace, perf and SystemTap (USDT): a nop each, and a note in the library that says where it is and where
 * its arguments are. docs/tracing.md lists them. Nothing, where the library was built without <sys/sdt.h>. */
#pragma once

#ifdef RCM_PROBES
#define SDT_USE_VARIADIC
#include <sys/sdt.h>

/* Names are tokens, without quotes; arguments are integers or pointers, 12 at most. */
#define RCM_PROBE(name, ...) STAP_PROBEV(rai, name, __VA_ARGS__)
#else
#define RCM_PROBE(name, ...) ((void)0)
#endif
