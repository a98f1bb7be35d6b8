/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices that tell of their ports when the test wants it. Any thread. */
#pragma once

#include "verbs/alerts.h"

extern const struct rcm_alerts_ops rcm_fake_alerts;

/* Nothing was opened, and anything can be. */
void rcm_fake_alerts_reset(void);

/* From now on opening fails so (-errno; 0: it works again). */
void rcm_fake_alerts_refuse(int error);

/* The context that was opened of the device tells this, or is of no more use. */
void rcm_fake_alerts_tell(const char *device, enum rcm_alert alert);
void rcm_fake_alerts_break(const char *device);

unsigned rcm_fake_alerts_opens(void);		/* how often was tried */
unsigned rcm_fake_alerts_open_now(void);

/* Waits for so many open contexts, or tries. */
void rcm_fake_alerts_wait_open(unsigned count);
void rcm_fake_alerts_wait_tried(unsigned count);
