/* SPDX-License-Identifier: BSD-2-Clause */
/* Asio, by itself as in Boost; its reactor registers edge-triggered. */
#define ASIO_STANDALONE
#define ASIO_DISABLE_FENCED_BLOCK	/* one thread, and ThreadSanitizer knows no fences */
#include <asio.hpp>
#include <chrono>

#include "watch.h"

namespace {

struct watch {
	asio::io_context context;
	asio::posix::stream_descriptor descriptor{context};
	bool pending = false;
	int woken = 0;
};

void *watch_open(int fd)
{
	auto *watch = new struct watch;

	watch->descriptor.assign(fd);
	return watch;
}

int watch_wait(void *arg, int ms)
{
	auto *watch = static_cast<struct watch *>(arg);

	watch->woken = 0;
	if (!watch->pending) {
		watch->pending = true;
		watch->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
					     [watch](const std::error_code &error) {
			watch->pending = false;
			watch->woken = error ? -1 : 1;
		});
	}
	watch->context.restart();
	watch->context.run_one_for(std::chrono::milliseconds(ms));
	return watch->woken;
}

/* The descriptor stays its owner's. */
void watch_close(void *arg)
{
	auto *watch = static_cast<struct watch *>(arg);

	watch->descriptor.release();
	watch->context.restart();
	watch->context.run();
	delete watch;
}

} // namespace

extern "C" const struct watch_ops watch_asio[] = {
	{ "asio", watch_ops::WATCH_EDGE, watch_open, watch_wait, watch_close },
	{ nullptr, watch_ops::WATCH_LEVEL, nullptr, nullptr, nullptr },
};
