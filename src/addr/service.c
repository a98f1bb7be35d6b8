/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts that are numbers. */
#include "addr/service.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rcm_service_id(const char *service, uint64_t *ret_id)
{
	unsigned long long id;
	char *end;

	if (!isdigit((unsigned char)*service))
		return 0;
	errno = 0;
	id = strtoull(service, &end, 0);
	if (*end)
		return 0;
	if (errno == ERANGE)
		return -EINVAL;
	*ret_id = id;
	return 1;
}

int rcm_service_number(const char *service, uint16_t *ret_port)
{
	unsigned long port;
	char *end;

	port = strtoul(service, &end, 10);
	if (end == service || *end)
		return 0;
	if (port > UINT16_MAX)
		return -ENOENT;
	*ret_port = (uint16_t)port;
	return 1;
}
