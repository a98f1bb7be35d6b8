/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs of this folder have in common: names to ask for, and what to do with an event. */
#ifndef NAMES_H
#define NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

/* A channel whose descriptor doesn't block; exits where there is none. */
struct rdma_event_channel *names_channel(void);

/* Begins to resolve names, each on an id of its own, and returns at once how many it has begun with. */
int names_start(struct rdma_event_channel *channel, int count, char **names);

/*
 * Takes every event that is due and prints its outcome; returns how many names are still waited for. It goes on until
 * there is no event left, so that it suits a loop that tells of a descriptor once for each change, too.
 */
int names_take(struct rdma_event_channel *channel);

#ifdef __cplusplus
}
#endif
#endif
