/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of chance, from the kernel or, where it has none, from what it gave before. */
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/siphash.h"

/* /dev/urandom gives what there is, where getrandom(2) says that it isn't enough yet, or is refused. */
static bool random_read(void *to, size_t len)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, to, len);
	close(fd);
	return n == (ssize_t)len;
}

/* Each word another, in each thread and each child of a fork. */
static void random_make(uint8_t *to, size_t len)
{
	static atomic_ulong calls;
	const void *gift = (const void *)getauxval(AT_RANDOM);
	struct {
		uint64_t now, call, pid, thread, word;
	} seed = {
		.now = rcm_clock_now(), .call = atomic_fetch_add(&calls, 1), .pid = (uint64_t)getpid(),
		.thread = (uintptr_t)&seed,
	};
	uint8_t key[16] = { 0 };
	uint64_t word;

	if (gift)
		memcpy(key, gift, sizeof(key));
	for (size_t at = 0; at < len; at += sizeof(word), seed.word++) {
		word = rcm_siphash(key, 2, 4, &seed, sizeof(seed));
		memcpy(to + at, &word, len - at < sizeof(word) ? len - at : sizeof(word));
	}
}

void rcm_random_fill(void *to, size_t len)
{
	int saved = errno, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (getrandom(to, len, GRND_NONBLOCK) != (ssize_t)len && !random_read(to, len))
		random_make(to, len);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}
