/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that are over when nobody can be told. */
#include "dns/workers.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static struct rcm_loop loop, *lost_loop;
static sem_t begun, go_on, lost, freed;

static void job_run(struct rcm_job *job)
{
	(void)job;
	sem_post(&begun);
	sem_wait(&go_on);
}

static void job_done(struct rcm_job *job, int status)
{
	(void)job;
	(void)status;
	fail();
}

static void job_free(struct rcm_job *job)
{
	(void)job;
	sem_post(&freed);
}

static void loop_lost(struct rcm_loop *its)
{
	lost_loop = its;
	sem_post(&lost);
}

static const struct rcm_job_ops ops = { job_run, job_done, job_free };

/* The loop's thread may be asleep, and nobody else come by. */
static void test_workers_whose_loop_has_no_descriptors_say_so_when_a_job_is_over(void **state)
{
	static const struct rcm_workers_limits limits = {
		.name = "test", .at_once = 1, .threads = 1, .stack = 64 * 1024,
	};
	int own = memfd_create("own", MFD_CLOEXEC);
	struct rcm_job job = { .ops = &ops };
	struct rcm_workers *workers;
	struct stat st;

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	loop.lost = loop_lost;
	assert_int_equal(rcm_workers_open(&loop, &limits, &workers), 0);
	rcm_workers_post(workers, &job);
	sem_wait(&begun);
	assert_int_equal(dup2(own, loop.epfd), loop.epfd);
	sem_post(&go_on);
	sem_wait(&lost);
	assert_ptr_equal(lost_loop, &loop);
	rcm_job_drop(&job);
	sem_wait(&freed);
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_size, 0);
	rcm_workers_close(workers);
	rcm_loop_done(&loop);
	close(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workers_whose_loop_has_no_descriptors_say_so_when_a_job_is_over),
	};

	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&lost, 0, 0);
	sem_init(&freed, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
