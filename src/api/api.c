/* SPDX-License-Identifier: BSD-2-Clause */
/* The border of the library: fork, cancellation, errno. */
#include "api/api.h"

#include <errno.h>
#include <pthread.h>

#include "cm/adopt.h"

int rcm_enter(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	rcm_adopt_enter();
	return cancel_state;
}

int rcm_result(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

int rcm_leave(int cancel_state, int ret)
{
	pthread_setcancelstate(cancel_state, NULL);
	return rcm_result(ret);
}
