/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers by script: the test sees each question and says what is answered, and when. */
#pragma once

#include "dns/cares.h"

extern const struct rcm_cares_ops fake_cares;

/* The oldest question not taken yet: fails unless it is about name, for those types. */
struct rcm_exchange *fake_cares_take(const char *name, bool a, bool aaaa);

/* Fails unless all questions were taken, and each taken one was answered or dropped. */
void fake_cares_assert_over(void);

/* How many questions are out, taken or not. */
unsigned fake_cares_out(void);

/* As many at once, and ask() says -EAGAIN to more; UINT_MAX: no limit. */
void fake_cares_room(unsigned room);

/* Ends one type of a taken question in any way but FOUND; last where no other type is left. */
void fake_cares_fail(struct rcm_exchange *exchange, int type, enum rcm_dns_verdict verdict);

/* Ends it with one address of that name. */
void fake_cares_found(struct rcm_exchange *exchange, int type, const char *name, const char *address);

/* The server that speaks in failures; NULL: nobody. */
void fake_cares_speaker(const union rcm_dns_address *speaker);
