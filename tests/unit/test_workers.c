/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool of threads: how many run, who takes whose place, and jobs that are over when nobody can be told. */
#include "dns/workers.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "test.h"

/* ---- Threads, as the pool has them ---- */

static unsigned starts;
static int refusal;			/* of each start; 0: none is refused */
static _Atomic(unsigned) waits_over;	/* so many waits for work end at once, without any */
static _Atomic(bool) wait_was_odd;
static uint64_t waited_from;

int __real_rcm_thread_start(const char *name, size_t stack, void *(*fn)(void *arg), void *arg);
int __wrap_rcm_thread_start(const char *name, size_t stack, void *(*fn)(void *arg), void *arg);

int __wrap_rcm_thread_start(const char *name, size_t stack, void *(*fn)(void *arg), void *arg)
{
	assert_string_equal(name, "test");
	assert_int_equal(stack, 64 * 1024);
	if (refusal)
		return refusal;
	starts++;
	return __real_rcm_thread_start(name, stack, fn, arg);
}

int __real_rcm_lock_wait_until(struct rcm_lock *lock, struct rcm_condition *condition, const struct timespec *until);
int __wrap_rcm_lock_wait_until(struct rcm_lock *lock, struct rcm_condition *condition, const struct timespec *until);

int __wrap_rcm_lock_wait_until(struct rcm_lock *lock, struct rcm_condition *condition, const struct timespec *until)
{
	uint64_t end = (uint64_t)until->tv_sec * RCM_NS_PER_S + (uint64_t)until->tv_nsec;
	struct timespec never = { .tv_sec = until->tv_sec + 1000000 };

	/* However slow the machine is. */
	if (!waits_over)
		return __real_rcm_lock_wait_until(lock, condition, &never);
	waits_over--;
	wait_was_odd = end < waited_from + 5 * RCM_NS_PER_S || end > rcm_clock_now() + 5 * RCM_NS_PER_S;
	return -ETIMEDOUT;
}

static unsigned threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	char path[300], name[32];
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		count += file && fgets(name, sizeof(name), file) && !strcmp(name, "test\n");
		if (file)
			fclose(file);
	}
	closedir(dir);
	return count;
}

static void await_threads(unsigned count)
{
	while (threads() != count)
		sched_yield();
}

/* ---- Jobs that go on when they are told to ---- */

enum { AT_ONCE = 2, THREADS = 3, JOBS = 6 };

static struct held {
	struct rcm_job job;
	sem_t begun, go_on, freed;
	unsigned done;
	int status;
} held[JOBS];
static unsigned order[JOBS], done_count;
static struct rcm_loop pool_loop;
static struct rcm_workers *pool;

static unsigned number_of(struct rcm_job *job)
{
	return (unsigned)((struct held *)job - held);
}

static void held_run(struct rcm_job *job)
{
	sem_post(&held[number_of(job)].begun);
	sem_wait(&held[number_of(job)].go_on);
}

static void held_done(struct rcm_job *job, int status)
{
	struct held *one = &held[number_of(job)];

	one->done++;
	one->status = status;
	order[done_count++] = number_of(job);
}

static void held_free(struct rcm_job *job)
{
	sem_post(&held[number_of(job)].freed);
}

static const struct rcm_job_ops held_ops = { held_run, held_done, held_free };
static const struct rcm_workers_limits pool_limits = {
	.name = "test", .at_once = AT_ONCE, .threads = THREADS, .stack = 64 * 1024,
};

static int open_pool(void **state)
{
	(void)state;
	starts = done_count = 0;
	refusal = 0;
	for (unsigned i = 0; i < JOBS; i++) {
		held[i] = (struct held){ .job = { .ops = &held_ops } };
		sem_init(&held[i].begun, 0, 0);
		sem_init(&held[i].go_on, 0, 0);
		sem_init(&held[i].freed, 0, 0);
	}
	assert_int_equal(rcm_loop_init(&pool_loop), 0);
	return rcm_workers_open(&pool_loop, &pool_limits, &pool);
}

static int close_pool(void **state)
{
	(void)state;
	rcm_workers_close(pool);
	await_threads(0);
	rcm_loop_done(&pool_loop);
	return 0;
}

static void post(unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++)
		rcm_workers_post(pool, &held[i].job);
}

static void await_done(unsigned count)
{
	while (done_count < count)
		assert_int_equal(rcm_loop_turn(&pool_loop, -1), 0);
	assert_int_equal(done_count, count);
}

static void test_workers_run_so_many_jobs_at_once_and_the_others_in_their_turn(void **state)
{
	(void)state;
	assert_int_equal(starts, 0);
	post(0, 3);
	assert_int_equal(starts, AT_ONCE);
	sem_wait(&held[0].begun);
	sem_wait(&held[1].begun);
	sem_post(&held[1].go_on);
	sem_wait(&held[2].begun);
	assert_int_equal(sem_trywait(&held[3].begun), -1);
	/* On the loop's thread, and not before it turns. */
	assert_int_equal(done_count, 0);
	await_done(1);
	assert_int_equal(order[0], 1);
	assert_int_equal(held[1].status, 0);
	sem_post(&held[0].go_on);
	sem_wait(&held[3].begun);
	sem_post(&held[2].go_on);
	sem_post(&held[3].go_on);
	await_done(4);
	/* Both are there yet. */
	post(4, 5);
	assert_int_equal(starts, AT_ONCE);
	sem_wait(&held[4].begun);
	sem_wait(&held[5].begun);
	sem_post(&held[4].go_on);
	sem_post(&held[5].go_on);
	await_done(6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(held[i].done, 1);
}

static void test_workers_without_work_leave_after_a_while_and_come_again(void **state)
{
	(void)state;
	waited_from = rcm_clock_now();
	waits_over = 1;
	post(0, 0);
	sem_post(&held[0].go_on);
	await_done(1);
	await_threads(0);
	assert_false(wait_was_odd);
	post(1, 1);
	assert_int_equal(starts, 2);
	sem_post(&held[1].go_on);
	await_done(2);
}

static void test_workers_that_can_not_be_had_refuse_a_job_unless_one_is_there(void **state)
{
	(void)state;
	refusal = -EAGAIN;
	post(0, 0);
	await_done(1);
	assert_int_equal(held[0].status, -EAGAIN);
	refusal = 0;
	post(1, 1);
	sem_wait(&held[1].begun);
	refusal = -EAGAIN;
	post(2, 2);
	assert_int_equal(rcm_loop_turn(&pool_loop, 0), 0);
	assert_int_equal(done_count, 1);
	sem_post(&held[1].go_on);
	sem_wait(&held[2].begun);
	sem_post(&held[2].go_on);
	await_done(3);
	assert_int_equal(held[2].status, 0);
}

static void test_workers_stuck_in_dropped_jobs_give_their_place_up_to_the_limit(void **state)
{
	(void)state;
	post(0, 4);
	sem_wait(&held[0].begun);
	sem_wait(&held[1].begun);
	/* In the queue yet. */
	rcm_job_drop(&held[3].job);
	assert_int_equal(sem_trywait(&held[3].freed), 0);
	rcm_job_drop(&held[0].job);
	assert_int_equal(starts, 3);
	sem_wait(&held[2].begun);
	assert_int_equal(sem_trywait(&held[0].freed), -1);
	/* There may be no fourth; the third will come to the next job. */
	rcm_job_drop(&held[1].job);
	assert_int_equal(starts, 3);
	assert_int_equal(rcm_loop_turn(&pool_loop, 0), 0);
	assert_int_equal(done_count, 0);
	rcm_job_drop(&held[2].job);
	await_done(1);
	assert_int_equal(order[0], 4);
	assert_int_equal(held[4].status, -EBUSY);
	/* Two come back, one of them to work; a third would be one too many. */
	for (unsigned i = 0; i < 3; i++) {
		sem_post(&held[i].go_on);
		sem_wait(&held[i].freed);
	}
	await_threads(2);
	post(5, 5);
	sem_wait(&held[5].begun);
	assert_int_equal(starts, 3);
	sem_post(&held[5].go_on);
	await_done(2);
	assert_int_equal(held[5].status, 0);
}

static void test_workers_closed_free_each_job_when_nobody_is_in_it(void **state)
{
	(void)state;
	post(0, 2);
	sem_wait(&held[0].begun);
	sem_wait(&held[1].begun);
	sem_post(&held[1].go_on);
	sem_wait(&held[2].begun);
	post(3, 3);
	/* One is over, two run, of which one is dropped, one waits. */
	refusal = -EAGAIN;
	rcm_job_drop(&held[0].job);
	rcm_workers_close(pool);
	sem_wait(&held[1].freed);
	sem_wait(&held[3].freed);
	assert_int_equal(sem_trywait(&held[0].freed), -1);
	assert_int_equal(sem_trywait(&held[2].freed), -1);
	sem_post(&held[0].go_on);
	sem_post(&held[2].go_on);
	sem_wait(&held[0].freed);
	sem_wait(&held[2].freed);
	await_threads(0);
	assert_int_equal(done_count, 0);
	refusal = 0;
	pool = NULL;
}

/* ---- When nobody can be told ---- */

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
#define T(name) cmocka_unit_test_setup_teardown(name, open_pool, close_pool)
		T(test_workers_run_so_many_jobs_at_once_and_the_others_in_their_turn),
		T(test_workers_without_work_leave_after_a_while_and_come_again),
		T(test_workers_that_can_not_be_had_refuse_a_job_unless_one_is_there),
		T(test_workers_stuck_in_dropped_jobs_give_their_place_up_to_the_limit),
		T(test_workers_closed_free_each_job_when_nobody_is_in_it),
		cmocka_unit_test(test_workers_whose_loop_has_no_descriptors_say_so_when_a_job_is_over),
	};

	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&lost, 0, 0);
	sem_init(&freed, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
