/* SPDX-License-Identifier: BSD-2-Clause */
/* A publisher of the test's own, at the model's SA and at ports as the test has them, and what it tells. */
#pragma once

#include "model_sa.h"
#include "publish/publisher.h"

#define RCM_TEST_S 1000000000ULL

struct rcm_publishing {
	struct rcm_published published;
	unsigned told;			/* how often */
	int told_status[8];		/* the first ones */
	char text[RCM_TEXT_MAX];	/* the last */
	bool over;
};

extern struct rcm_publisher rcm_publishing_publisher;
extern struct rcm_loop rcm_publishing_loop;
extern struct rcm_publish_port rcm_publishing_port;	/* fe80::1, as looks find it */
extern bool rcm_publishing_port_gone;
extern int rcm_publishing_look_fails;			/* -errno: for want of means; 0 */
extern unsigned rcm_publishing_looks;

/* Before and after each test. */
int rcm_publishing_before(void **state);
int rcm_publishing_after(void **state);

/* Publishes a service of that id, named "storage", with a lease of two minutes, at fe80::1 in the default partition. */
void rcm_publishing_start(struct rcm_publishing *publishing, uint64_t id);

/* What start() would publish, to be changed before it is given to the other. */
void rcm_publishing_prepare(struct rcm_publishing *publishing, uint64_t id);
void rcm_publishing_begin(struct rcm_publishing *publishing);

void rcm_publishing_stop(struct rcm_publishing *publishing);

/* So many were told, with these statuses. */
#define assert_told(publishing, ...) do { \
	const int want_[] = { __VA_ARGS__ }; \
	assert_int_equal((publishing)->told, sizeof(want_) / sizeof(*want_)); \
	assert_memory_equal((publishing)->told_status, want_, sizeof(want_)); \
} while (0)
