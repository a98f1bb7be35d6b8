/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions under way, by id. */
#include "dns/carried.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/fds.h"

enum { RECEIVE_BUFFER = 1 << 20 };	/* a window full of answers, and more */

/* Few of the 65,536 are taken at any time. What nobody can guess needs no hash. */
int rcm_carried_register(struct rcm_carry *carry, struct rcm_carried **table, struct rcm_carried *carried)
{
	do {
		carried->id = rcm_random_take(&carry->random);
	} while (rcm_carried_find(*table, carried->id));
	HASH_ADD_BYHASHVALUE(hh, *table, id, sizeof(carried->id), carried->id, carried);
	return carried->hh.tbl ? 0 : -ENOMEM;
}

struct rcm_carried *rcm_carried_find(struct rcm_carried *table, uint16_t id)
{
	struct rcm_carried *carried;

	HASH_FIND_BYHASHVALUE(hh, table, &id, sizeof(id), id, carried);
	return carried;
}

void rcm_carried_unregister(struct rcm_carried **table, struct rcm_carried *carried)
{
	HASH_DEL(*table, carried);
}

int rcm_carry_connect(const union rcm_dns_address *address, int type)
{
	socklen_t len = address->sa.sa_family == AF_INET ? sizeof(address->in) : sizeof(address->in6);
	int fd = rcm_fds_add(socket(address->sa.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	const int room = RECEIVE_BUFFER, on = 1;
	int ret;

	if (fd < 0)
		return fd;
	if (type == SOCK_DGRAM)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	else
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!connect(fd, &address->sa, len) || errno == EINPROGRESS)
		return fd;
	ret = rcm_errno();
	rcm_fds_close(fd);
	return ret;
}
