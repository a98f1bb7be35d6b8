/* SPDX-License-Identifier: BSD-2-Clause */
/* A good guest in its host's process: fork, dlclose, threads, descriptors, cancellation. */
#include "api.h"

#include "../unit/asleep.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static int resolve(struct rdma_cm_id *of, struct rdma_event_channel *on, const char *node, const char *service)
{
	struct rdma_cm_event *event;
	int status;

	if (rdma_resolve_addrinfo(of, node, service, NULL) || rdma_get_cm_event(on, &event))
		return -1;
	status = event->status;
	rdma_ack_cm_event(event);
	return status;
}

/* A number, which is answered at once, and a service's name that was never asked for, which takes the resolver's
 * thread. */
static int resolve_once(struct rdma_cm_id *of, struct rdma_event_channel *on)
{
	static unsigned asked;
	char unknown[32];
	int ret;

	snprintf(unknown, sizeof(unknown), "no-such-%u-%u", (unsigned)getpid(), asked++);
	ret = resolve(of, on, "192.0.2.1", "7471");
	if (!ret && resolve(of, on, "192.0.2.1", unknown) != -ENOENT)
		ret = -1;
	return ret;
}

/* The child gives its answer by its exit status: cmocka is not to go on in it. */
static int run_in_child(int (*call)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(call() ? 1 : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int resolve_on_the_parents_id(void)
{
	return resolve_once(id, channel) || resolve_once(id, channel);
}

static int resolve_on_ids_of_its_own(void)
{
	struct rdma_event_channel *mine = rdma_create_event_channel();
	struct rdma_cm_id *own;
	int ret;

	if (!mine || rdma_create_id(mine, &own, NULL, RDMA_PS_TCP))
		return 1;
	ret = resolve_once(own, mine) || rdma_destroy_id(own);
	rdma_destroy_event_channel(mine);
	return ret;
}

static int destroy_the_parents_id(void)
{
	int ret = rdma_destroy_id(id);

	rdma_destroy_event_channel(channel);
	return ret;
}

static void test_fork_child_keeps_its_ids_and_resolves_and_the_parent_too(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(resolve_on_the_parents_id), 0);
	assert_int_equal(resolve_once(id, channel), 0);
	assert_int_equal(run_in_child(resolve_on_the_parents_id), 0);
	assert_int_equal(run_in_child(resolve_on_ids_of_its_own), 0);
	assert_int_equal(run_in_child(destroy_the_parents_id), 0);
	assert_int_equal(resolve_once(id, channel), 0);
	assert_false(is_readable(channel->fd));
}

/* One thread, with all signals blocked, named for who looks into /proc. */
static void test_process_has_one_more_thread_that_takes_no_signals(void **state)
{
	char path[300], line[256], name[32] = "";
	unsigned found = 0;
	struct dirent *entry;
	DIR *dir;

	(void)state;
	if (emulated())
		skip();	/* /proc has the emulator's mask */
	assert_int_equal(resolve_once(id, channel), 0);
	dir = opendir("/proc/self/task");
	while ((entry = readdir(dir))) {
		unsigned long long blocked = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		if (entry->d_name[0] == '.' || !file)
			continue;
		while (fgets(line, sizeof(line), file)) {
			sscanf(line, "Name: %31s", name);
			sscanf(line, "SigBlk: %llx", &blocked);
		}
		fclose(file);
		if (strcmp(name, "rai-resolver"))
			continue;
		found++;
		for (int sig = 1; sig < 32; sig++)
			if (sig != SIGKILL && sig != SIGSTOP)
				assert_true(blocked & 1ULL << (sig - 1));
	}
	closedir(dir);
	assert_int_equal(found, 1);
}

static void test_process_gets_back_every_descriptor(void **state)
{
	unsigned before;

	(void)state;
	assert_int_equal(resolve_once(id, channel), 0);
	before = entries("/proc/self/fd");
	for (int i = 0; i < 50; i++) {
		struct rdma_event_channel *other = rdma_create_event_channel();
		struct rdma_cm_id *mine, *sync;

		assert_int_equal(rdma_create_id(other, &mine, NULL, RDMA_PS_TCP), 0);
		assert_int_equal(rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP), 0);
		assert_int_equal(resolve_once(mine, other), 0);
		assert_int_equal(rdma_resolve_addrinfo(sync, "192.0.2.1", NULL, NULL), 0);
		assert_int_equal(rdma_migrate_id(mine, NULL), 0);
		assert_int_equal(rdma_migrate_id(sync, other), 0);
		assert_int_equal(rdma_destroy_id(sync), 0);
		assert_int_equal(rdma_destroy_id(mine), 0);
		rdma_destroy_event_channel(other);
	}
	assert_int_equal(entries("/proc/self/fd"), before);
}

static void test_process_has_no_descriptor_that_survives_exec(void **state)
{
	struct dirent *entry;
	unsigned ours = 0;
	DIR *dir;

	(void)state;
	assert_int_equal(resolve_once(id, channel), 0);
	dir = opendir("/proc/self/fd");
	while ((entry = readdir(dir))) {
		char path[300], target[64] = "";
		int fd = atoi(entry->d_name);

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) < 0 || strncmp(target, "anon_inode:", 11))
			continue;
		ours++;
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	closedir(dir);
	assert_true(ours >= 2);
}

/* F23: whatever fails, the streams are the application's. */
static void test_process_hears_nothing_on_its_streams(void **state)
{
	int screen = dup(STDERR_FILENO), out = dup(STDOUT_FILENO), fd = memfd_create("streams", MFD_CLOEXEC);
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct rdma_addrinfo *list;
	off_t len;

	(void)state;
	fflush(NULL);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	(void)rdma_bind_addr(id, (struct sockaddr *)&in);
	(void)rdma_resolve_addr(id, NULL, (struct sockaddr *)&in, 100);
	(void)rdma_getaddrinfo("192.0.2.1", "no-such-service", NULL, &list);
	(void)rdma_get_devices(NULL);
	(void)resolve_once(id, channel);
	len = lseek(fd, 0, SEEK_END);
	dup2(screen, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	close(screen);
	close(out);
	close(fd);
	assert_int_equal(len, 0);
}

/* F35: dlclose can't unmap code that runs. */
static void test_library_closed_while_it_resolves_stays_mapped(void **state)
{
	void *library = dlopen("librdmacm.so.1", RTLD_NOW);

	(void)state;
	assert_non_null(library);
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
	dlclose(library);
	dlclose(library);
	rdma_ack_cm_event(get_event(channel));
}

#ifdef PLUGIN				/* a module that has the archive in it */

static atomic_int plugin_tid;

static void on_signal(int sig)
{
	(void)sig;
}

/* A wait in the archive, which is unmapped before the thread ends: NULL. */
static void *wait_in_plugin(void *arg)
{
	void *plugin = dlopen(PLUGIN, RTLD_NOW);
	int (*wait)(void) = plugin ? (int (*)(void))(uintptr_t)dlsym(plugin, "plugin_wait") : NULL;

	atomic_store(&plugin_tid, gettid());
	return wait && !wait() && !dlclose(plugin) && !dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD) ? arg : &plugin_tid;
}

static void test_thread_that_waited_in_a_module_unloaded_since_ends(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_plugin, NULL), 0);
	while (!atomic_load(&plugin_tid))
		sched_yield();
	await_sleep(atomic_load(&plugin_tid));
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &failed);
	assert_null(failed);
	signal(SIGUSR1, SIG_DFL);
}

#endif

static void *resolve_forever(void *arg)
{
	struct rdma_addrinfo *list;

	for (;;) {
		if (!rdma_getaddrinfo("192.0.2.1", "7471", NULL, &list))
			rdma_freeaddrinfo(list);
		rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0);
		pthread_testcancel();
	}
	return arg;
}

/* Only waiting for an event is a cancellation point: anywhere else a lock would stay behind. */
static void test_thread_cancelled_in_any_call_leaves_the_library_usable(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	set_nonblocking(channel->fd);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, resolve_forever, NULL), 0);
		while (!is_readable(channel->fd))
			;
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		while (!rdma_get_cm_event(channel, &event))
			rdma_ack_cm_event(event);
	}
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
	while (rdma_get_cm_event(channel, &event))
		;
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	rdma_ack_cm_event(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_fork_child_keeps_its_ids_and_resolves_and_the_parent_too),
		API_TEST(test_process_has_one_more_thread_that_takes_no_signals),
		API_TEST(test_process_gets_back_every_descriptor),
		API_TEST(test_process_has_no_descriptor_that_survives_exec),
		API_TEST(test_process_hears_nothing_on_its_streams),
		API_TEST(test_library_closed_while_it_resolves_stays_mapped),
#ifdef PLUGIN
		API_TEST(test_thread_that_waited_in_a_module_unloaded_since_ends),
#endif
		API_TEST(test_thread_cancelled_in_any_call_leaves_the_library_usable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
