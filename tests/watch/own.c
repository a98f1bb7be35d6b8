/* SPDX-License-Identifier: BSD-2-Clause */
/* Through the library, without a device: the library's own events. */
#include "watch.h"

int main(int argc, char **argv)
{
	static const struct watch_world world = { 0 };

	return watch_main(&world, argc, argv);
}
