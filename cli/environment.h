/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of the library that mean nothing as they are set: it says so, since the library prints nothing. */
#pragma once

/* A line on the standard error output for each. */
void cli_environment_check(void);
