/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fork's child has of its parent, with the resolver as it is. */
#include "cm/adopt.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tell.h"
#include "cm/id.h"
#include "cm/life.h"
#include "cm/lookup.h"
#include "fake_dns.h"
#include "fake_ucma.h"
#include "resolve/engine.h"
#include "test.h"

static struct rcm_channel *channel;
static struct rcm_id *id;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	return rcm_channel_new(&channel) || rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	return 0;
}

/* ---- A watcher that forks, which takes the adoption's lock ---- */

static unsigned lost_told;

static void fork_at_loss(const void *watcher, const struct rcm_tell_step *step)
{
	pid_t pid;

	(void)watcher;
	if (strncmp(step->text, "told (status EBADF", 18) != 0)
		return;
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	lost_told++;
}

/* As a program does that closes all, but for the channel's. */
static void lose_engine(void)
{
	struct rcm_engine *engine = rcm_engine_the();

	while (!atomic_load(&engine->waits) || !atomic_load(&engine->asleep))
		sched_yield();
	close(engine->loop.epfd);
}

/* Its own engine is lost by the time that it goes on with the parent's channel. */
static int lose_while_adopting(void)
{
	struct rcm_channel *own;
	struct rcm_id *own_id;
	int ret;

	alarm(30);
	rcm_adopt_enter();
	rcm_fake_dns_reset();
	if (rcm_channel_new(&own) || rcm_id_new(own, NULL, RDMA_PS_TCP, IBV_QPT_RC, &own_id) ||
	    rcm_lookup_start(own_id, "own.hold.test", NULL, NULL))
		return 1;
	rcm_fake_dns_wait_started(1);
	lose_engine();
	if (rcm_tell_watch(fork_at_loss, &lost_told))
		return 2;
	ret = rcm_adopt_channel(channel);
	rcm_tell_watch(NULL, NULL);
	if (ret)
		return 3;
	/* Its own: the parent's goes on with the next engine. */
	return lost_told == 1 ? 0 : 4;
}

static void test_adopt_that_finds_the_engine_lost_tells_the_watcher_without_its_lock(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(rcm_lookup_start(id, "parents.hold.test", NULL, NULL), 0);
	rcm_fake_dns_wait_started(1);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(lose_while_adopting());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_adopt_that_finds_the_engine_lost_tells_the_watcher_without_its_lock,
						set_up, tear_down),
	};

	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
