/* SPDX-License-Identifier: BSD-2-Clause */
/* What systemd is told of a process that it has started, by the protocol of sd_notify(3). */
#pragma once

/* Lines such as "READY=1\nSTATUS=registered". Where nobody wants to know, or it can't be told, nothing happens. */
void cli_notify(const char *lines);
