/* SPDX-License-Identifier: BSD-2-Clause */
/* Users and groups of a thread, of which Linux knows each thread's alone. */
#pragma once

/*
 * Gives the calling thread the users and groups of the process's first one, with which the capabilities of root come
 * and go: file servers take other users' rights for a thread alone, by the system call, and a thread starts with those
 * of who started it. What the kernel doesn't permit stays as it was, and so does everything where /proc can't be read.
 */
void rcm_rights_take(void);
