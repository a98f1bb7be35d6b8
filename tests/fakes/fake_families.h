/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers by script: the test sees each name that is asked about and says what comes of it, and when. */
#pragma once

#include "dns/families.h"

extern const struct rcm_families_ops fake_families;

/* The oldest name not taken yet: fails unless it is this one, asked about for that family. */
struct rcm_families *fake_families_take(const char *name, int family);

/* Fails unless all were taken, and each taken one is over. */
void fake_families_assert_over(void);

/* How many are out, taken or not. */
unsigned fake_families_out(void);

/* As many at once, and start() says -EAGAIN to more; UINT_MAX: no limit. Raising it tells that there is room. */
void fake_families_room(unsigned room);

/* The next start() fails so; 0: it doesn't. */
void fake_families_refuse(int error);

/* From now on, or no more, there is room for names of one family alone. */
void fake_families_tight(bool tight);

/* From now on, or no more, a name that may go beyond the room is taken. */
void fake_families_go_beyond(bool go);

/* Ends a taken one in any way but FOUND. */
void fake_families_fail(struct rcm_families *families, enum rcm_dns_verdict verdict);

/* The same where an answer said how long it may be kept, in seconds. */
void fake_families_fail_for(struct rcm_families *families, enum rcm_dns_verdict verdict, uint32_t ttl);

/* Ends it with these addresses of that name; the second may be NULL. */
void fake_families_found(struct rcm_families *families, const char *first, const char *second);

/* Ends one for SRV records with one: of that target and port, and one address, or none. */
void fake_families_found_srv(struct rcm_families *families, const char *target, uint16_t port, const char *address);

/* The same where the other family failed, or (missing: which) was given up; and before it is over. */
void fake_families_half(struct rcm_families *families, const char *address, int missing);
void fake_families_found_so_far(struct rcm_families *families, const char *address);

/* The server that speaks in failures; NULL: nobody. */
void fake_families_speaker(const union rcm_dns_address *speaker);
