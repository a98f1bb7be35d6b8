/* SPDX-License-Identifier: BSD-2-Clause */
/* The course of a request on the engine's thread, from its beginning to its answer. */
#pragma once

#include "resolve/engine.h"

/* Begins what was posted, or ends it at once. */
void rcm_course_begin(struct rcm_engine *engine, struct rcm_request *request);

/* The application wants it to end. */
void rcm_course_stop(struct rcm_request *request);

/* Opens the name back end where it isn't yet: 0 or -errno. */
int rcm_course_open_dns(struct rcm_engine *engine);

/* In the child of a fork: puts what waits for files or a service's name in front of the backlog. */
void rcm_course_reset(struct rcm_engine *engine);
