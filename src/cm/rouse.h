/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a channel, whatever the channel's own descriptor says. */
#pragma once

/* What a wait polls beside the channel's descriptor: one for the process, made when first asked for. -1: no descriptor
 * is left for it. Readable: look whether the channel is still there to be waited for. */
int rcm_rouse_fd(void);

/* From the one to the other all such waits are ended, and begin again where they were not meant. Any thread. */
void rcm_rouse_begin(void);
void rcm_rouse_end(void);
