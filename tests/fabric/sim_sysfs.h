/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps umad2sim's copy of sysfs true: it is written once, when the process attaches to the fabric. */
#pragma once

/*
 * Where path is a file of a port that changes with the fabric (state, lid, sm_lid, sm_sl, gids/0, pkeys/N), asks the port
 * itself and writes the copy anew, before it is opened. As in the kernel, each look sees the port as it is now.
 */
void rcm_sim_sysfs_refresh(const char *path);

/* For good: the process ends, and umad2sim removes the copy. */
void rcm_sim_sysfs_give_up(void);

/* Between these, in this thread, the copy is taken as it is: opening a port reads sysfs itself. They nest. */
void rcm_sim_sysfs_hold(void);
void rcm_sim_sysfs_let(void);
