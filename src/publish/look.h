/* SPDX-License-Identifier: BSD-2-Clause */
/* What a registration depends on of its port, read in sysfs. */
#pragma once

#include "publish/offer.h"

/*
 * The port that has this GID, or, where none has it any more, the one whose first GID has its lower half: the prefix of
 * a subnet may change. 0; -ENODEV; or there was no means to look (rcm_is_want()). With pkeys false the P_Keys, a file
 * each, are not read, and ret_port's stay as they were. Local files only.
 */
int rcm_publish_look(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port);
