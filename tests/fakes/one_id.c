/* SPDX-License-Identifier: BSD-2-Clause */
/* One id on a channel, for tests of what ids ask of the engine. */
#include "one_id.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>

#include "../unit/test.h"
#include "cm/life.h"
#include "fake_engine.h"
#include "fake_ports.h"
#include "fake_ucma.h"

struct rcm_channel *channel;
struct rcm_id *id;

int open_id(void **state)
{
	(void)state;
	rcm_fake_ports_clear();
	rcm_fake_ports_add(1, true, 0);
	rcm_fake_ports_add(2, false, 0);
	rcm_fake_ports_add(3, true, -EACCES);
	rcm_fake_ucma_use();
	rcm_fake_ucma_open_result(-ENODEV);
	if (rcm_channel_new(&channel) || fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK))
		return -1;
	return rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

int close_id(void **state)
{
	(void)state;
	if (id)
		rcm_id_destroy(id);
	id = NULL;
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	rcm_fake_engine_reset();
	return 0;
}

void bind_id(struct rcm_id *to, uint8_t port, uint16_t pkey)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB, .sib_pkey = htobe16(pkey),
		.sib_sid = htobe64(RDMA_IB_IP_PS_TCP | 7471), .sib_sid_mask = UINT64_MAX,
	};

	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[1] = 0x80;
	ib.sib_addr.sib_raw[15] = port;
	assert_int_equal(rcm_id_bind(to, (struct sockaddr *)&ib), 0);
}
