/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in a loop of Asio; with Boost's, asio:: is boost::asio:: and the error boost::system's. usage: asio NAME... */
#define ASIO_STANDALONE
#include <asio.hpp>
#include <rdma/rdma_cma.h>

#include "names.h"

static void wait(asio::posix::stream_descriptor &descriptor, rdma_event_channel *channel)
{
	descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
			      [&descriptor, channel](const std::error_code &error) {
		if (!error && names_take(channel))
			wait(descriptor, channel);
	});
}

int main(int argc, char **argv)
{
	rdma_event_channel *channel = names_channel();
	asio::io_context context;
	asio::posix::stream_descriptor descriptor(context, channel->fd);

	if (names_start(channel, argc - 1, argv + 1))
		wait(descriptor, channel);
	context.run();
	descriptor.release();	/* the channel closes it */
	rdma_destroy_event_channel(channel);
	return 0;
}
