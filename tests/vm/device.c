/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that come, go, hide and are forbidden. Needs the layout "one", whose link v1 is free for a second device,
 * and root: it changes the guest's devices, so each test wants the layout laid anew.
 *
 * Of modules rdma_ucm alone is unloaded, by rmmod. A device's removal is told to the modules in the reverse order of
 * their coming: where ib_uverbs went and came back after rdma_cm, as on Linux 7.2 with modprobe, it waits for all
 * contexts to be closed before rdma_cm tells an id.
 */
#include "vm.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SECOND "10.2.1.1"	/* address of link v1 */

static pid_t sh_start(const char *command)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return child;
}

/* Whether the command ended within that time; its status goes to *ret_status. */
static bool sh_done(pid_t child, int ms, int *ret_status)
{
	for (uint64_t until = vm_now_us() + (uint64_t)ms * 1000; vm_now_us() < until; usleep(10000)) {
		if (waitpid(child, ret_status, WNOHANG) == child)
			return true;
	}
	return false;
}

static void sh(const char *command)
{
	int status;

	if (!sh_done(sh_start(command), VM_STEP_MS, &status))
		FAIL("'%s' hangs", command);
	if (status)
		FAIL("'%s': status %d", command, WEXITSTATUS(status));
}

static void second_add(void)
{
	sh("rdma link add rxe1 type rxe netdev v1");
	/* Its address's GID is there a little later. */
	sh("for i in $(seq 100); do grep -qs 0a02:0101 /sys/class/infiniband/rxe1/ports/1/gids/* && exit 0;"
	   " sleep 0.05; done; exit 1");
}

/* F22: the list of devices is not what it was when the library first looked. */
static void test_device_added_later_is_found(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *first = vm_id(channel, RDMA_PS_TCP), *second = vm_id(channel, RDMA_PS_TCP);

	TRY(rdma_bind_addr(first, vm_sockaddr(vm_address(), 0)));
	CHECK(first->verbs);
	second_add();
	TRY(rdma_bind_addr(second, vm_sockaddr(SECOND, 0)));
	CHECK(second->verbs);
	CHECK(!strcmp(ibv_get_device_name(second->verbs->device), "rxe1"));
	TRY(rdma_destroy_id(first));
	TRY(rdma_destroy_id(second));
	rdma_destroy_event_channel(channel);
}

/* F22: removal is told, and the device goes once its ids are gone, though the process and its other ids live on. */
static void test_device_removed_goes_when_its_ids_are_gone(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *first = vm_id(channel, RDMA_PS_TCP), *second = vm_id(channel, RDMA_PS_TCP);
	struct rdma_cm_event *event;
	int status;
	pid_t removal;

	second_add();
	TRY(rdma_bind_addr(first, vm_sockaddr(vm_address(), 0)));
	TRY(rdma_bind_addr(second, vm_sockaddr(SECOND, 0)));
	removal = sh_start("rdma link del rxe1");
	event = vm_take(channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
	CHECK(event->id == second);
	TRY(rdma_ack_cm_event(event));
	TRY(rdma_destroy_id(second));
	if (!sh_done(removal, VM_STEP_MS, &status))
		FAIL("the device is still held after its last id was destroyed");
	CHECK_EQ(status, 0);
	CHECK(first->verbs);
	vm_resolve(first, vm_sockaddr(vm_address(), 7000));
	TRY(rdma_destroy_id(first));
	rdma_destroy_event_channel(channel);
}

static void test_connection_over_removed_device_is_told(void)
{
	struct vm_pair pair;

	second_add();
	pair = vm_pair_connected(SECOND);
	pid_t removal = sh_start("rdma link del rxe1");
	struct rdma_cm_event *event = vm_next(pair.client_channel);
	int status;

	/* Its peer goes too, and which is told first is open. */
	CHECK(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL || event->event == RDMA_CM_EVENT_DISCONNECTED);
	TRY(rdma_ack_cm_event(event));
	vm_pair_free(&pair);
	if (!sh_done(removal, VM_STEP_MS, &status))
		FAIL("the device is still held after its last id was destroyed");
}

static atomic_bool churn_stop;

static void *churn(void *arg)
{
	(void)arg;
	while (!atomic_load(&churn_stop)) {
		int status;

		sh_done(sh_start("rdma link add rxe1 type rxe netdev v1; sleep 0.03; rdma link del rxe1"), VM_STEP_MS,
			&status);
	}
	return NULL;
}

/* F22 */
static void test_connections_work_while_another_device_comes_and_goes(void)
{
	pthread_t thread;
	int rounds = 0;

	CHECK_EQ(pthread_create(&thread, NULL, churn, NULL), 0);
	for (uint64_t until = vm_now_us() + 5000000; vm_now_us() < until; rounds++) {
		struct vm_pair pair = vm_pair_connected(vm_address());
		struct rdma_event_channel *channel = vm_channel();
		struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

		/* May work or not, by the moment; if it does there is a device. */
		if (!rdma_bind_addr(id, vm_sockaddr(SECOND, 0)))
			CHECK(id->verbs);
		TRY(rdma_destroy_id(id));
		rdma_destroy_event_channel(channel);
		TRY(rdma_disconnect(pair.client));
		vm_pair_free(&pair);
	}
	atomic_store(&churn_stop, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(rounds > 5);
}

/* Moves the verbs node of a device out of the folder where it is looked for. */
static void node_hide(const char *device)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "for d in /sys/class/infiniband_verbs/uverbs*; do"
		 " [ \"$(cat $d/ibdev)\" != %s ] || mv /dev/infiniband/${d##*/} /dev/hidden-${d##*/}; done", device);
	sh(command);
}

/* F21 */
static void test_device_that_cannot_be_opened_is_an_error_not_null(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *bad = vm_id(channel, RDMA_PS_TCP), *bound = vm_id(channel, RDMA_PS_TCP);
	struct rdma_cm_event *event;

	second_add();
	node_hide("rxe1");
	TRY(rdma_resolve_addr(bad, NULL, vm_sockaddr(SECOND, 7000), VM_STEP_MS));
	event = vm_take(channel, RDMA_CM_EVENT_ADDR_ERROR);
	CHECK_EQ(event->status, -ENODEV);
	TRY(rdma_ack_cm_event(event));
	REFUSED(rdma_bind_addr(bound, vm_sockaddr(SECOND, 0)), ENODEV);
	TRY(rdma_destroy_id(bad));
	TRY(rdma_destroy_id(bound));
	/* The other device works. */
	bad = vm_id(channel, RDMA_PS_TCP);
	vm_resolve(bad, vm_sockaddr(vm_address(), 7000));
	TRY(rdma_destroy_id(bad));
	rdma_destroy_event_channel(channel);
}

/* F21: a request that comes in over such a device never reaches the application without a context. */
static void test_request_over_device_that_cannot_be_opened_is_not_delivered_null(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	node_hide("rxe0");
	errno = 0;
	if (!rdma_bind_addr(id, vm_sockaddr("0.0.0.0", 7123)))
		CHECK(!rdma_listen(id, 1) || errno);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* errno of making a channel, in a process of its own; what it printed is a failure. */
static int channel_errno(void (*prepare)(void))
{
	int fds[2], status;
	char printed[128];
	ssize_t len;

	CHECK_EQ(pipe(fds), 0);
	pid_t child = fork();

	if (child == 0) {
		close(fds[0]);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		if (prepare)
			prepare();
		errno = 0;
		_exit(rdma_create_event_channel() ? 0 : errno);
	}
	close(fds[1]);
	len = read(fds[0], printed, sizeof(printed) - 1);
	if (len > 0) {
		printed[len - (printed[len - 1] == '\n')] = 0;
		FAIL("printed '%s'", printed);
	}
	close(fds[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void become_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(255);
}

static void cm_node_restore(void)
{
	sh("[ -e /dev/infiniband/rdma_cm ] || mv /dev/hidden-rdma_cm /dev/infiniband/rdma_cm;"
	   " chmod 666 /dev/infiniband/rdma_cm");
}

/* F23. An umad port counts as a device too, so its module goes first. */
static void test_no_device_no_node_no_permission_are_three_errnos(void)
{
	int no_permission, no_node, no_device;

	sh("modprobe -qr ib_umad; chmod 600 /dev/infiniband/rdma_cm");
	no_permission = channel_errno(become_nobody);
	cm_node_restore();
	sh("mv /dev/infiniband/rdma_cm /dev/hidden-rdma_cm");
	no_node = channel_errno(NULL);
	cm_node_restore();
	sh("rdma link del rxe0; rmmod rdma_ucm");
	no_device = channel_errno(NULL);
	sh("modprobe rdma_ucm; rdma link add rxe0 type rxe netdev v0");
	CHECK_EQ(no_permission, EACCES);
	CHECK_EQ(no_device, ENODEV);
	CHECK(no_node > 0);
	if (no_node == no_permission || no_node == no_device)
		FAIL("no node is errno %d too (%s)", no_node, strerror(no_node));
}

/* ---- The node of the connection manager ---- */

/* The module goes with its node. */
static void cm_unload(void)
{
	sh("rmmod rdma_ucm");
	CHECK(access("/dev/infiniband/rdma_cm", F_OK));
}

static void test_connection_where_the_module_is_not_loaded_yet_loads_it(void)
{
	cm_unload();
	struct vm_pair pair = vm_pair_connected(vm_address());

	TRY(access("/dev/infiniband/rdma_cm", F_OK));
	TRY(rdma_disconnect(pair.client));
	vm_pair_free(&pair);
}

static void test_synchronous_id_where_the_module_is_not_loaded_yet_loads_it(void)
{
	struct rdma_cm_id *id;

	cm_unload();
	TRY(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	TRY(rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)));
	CHECK(id->verbs);
	TRY(rdma_destroy_id(id));
}

/* A process that goes on while the administrator has the module loaded anew. */
static void test_channel_after_the_module_was_loaded_anew_works(void)
{
	for (int i = 0; i < 3; i++) {
		struct rdma_event_channel *channel = vm_channel();
		struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

		TRY(rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)));
		TRY(rdma_destroy_id(id));
		rdma_destroy_event_channel(channel);
		cm_unload();
	}
}

#ifdef VM_RAI
/* A channel without the kernel's side is good for nothing where no port has an SA, though there are umad devices. */
static void test_channel_where_the_node_is_hidden_or_another_device_is_refused(void)
{
	sh("modprobe ib_umad; mv /dev/infiniband/rdma_cm /dev/hidden-rdma_cm");
	REFUSED(rdma_create_event_channel() ? 0 : -1, ENOENT);
	/* It takes every command, and obeys none. */
	sh("mknod /dev/infiniband/rdma_cm c 1 3");
	REFUSED(rdma_create_event_channel() ? 0 : -1, ENOENT);
	sh("rm /dev/infiniband/rdma_cm; mknod /dev/infiniband/rdma_cm c 10 1");
	REFUSED(rdma_create_event_channel() ? 0 : -1, ENOENT);
	sh("rm /dev/infiniband/rdma_cm; mv /dev/hidden-rdma_cm /dev/infiniband/rdma_cm");
	rdma_destroy_event_channel(vm_channel());
}
#endif

static void test_channel_where_the_node_has_another_place_finds_it_by_its_number(void)
{
	sh("mv /dev/infiniband/rdma_cm /dev/hidden-rdma_cm; mkdir -p /dev/char;"
	   " ln -sf ../hidden-rdma_cm /dev/char/$(cat /sys/class/misc/rdma_cm/dev)");
	struct vm_pair pair = vm_pair_connected(vm_address());

	TRY(rdma_disconnect(pair.client));
	vm_pair_free(&pair);
	sh("rm /dev/char/$(cat /sys/class/misc/rdma_cm/dev)");
}

/* ---- Names and order of devices ---- */

static void test_device_renamed_while_ids_are_bound_serves_them_and_new_ones(void)
{
	struct vm_pair pair;

	second_add();
	pair = vm_pair_connected(SECOND);
	sh("rdma dev set rxe1 name other1");
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

	TRY(rdma_bind_addr(id, vm_sockaddr(SECOND, 0)));
	CHECK(id->verbs == pair.client->verbs);
	TRY(rdma_disconnect(pair.client));
	vm_pair_free(&pair);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	pair = vm_pair_connected(SECOND);
	TRY(rdma_disconnect(pair.client));
	vm_pair_free(&pair);
}

static void test_device_removed_and_added_again_by_its_name_is_another(void)
{
	struct rdma_event_channel *channel = vm_channel();

	second_add();
	for (int i = 0; i < 3; i++) {
		struct vm_pair pair = vm_pair_connected(SECOND);

		TRY(rdma_disconnect(pair.client));
		vm_pair_free(&pair);
		struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);

		TRY(rdma_bind_addr(id, vm_sockaddr(SECOND, 0)));
		pid_t removal = sh_start("rdma link del rxe1");
		struct rdma_cm_event *event = vm_take(channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
		int status;

		TRY(rdma_ack_cm_event(event));
		TRY(rdma_destroy_id(id));
		CHECK(sh_done(removal, VM_STEP_MS, &status) && !status);
		second_add();
	}
	rdma_destroy_event_channel(channel);
}

/* The one that was first is last now. */
static void test_devices_in_another_order_are_told_apart(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *first, *second;

	second_add();
	sh("rdma link del rxe0; rdma link add rxe0 type rxe netdev v0;"
	   "for i in $(seq 100); do grep -qs 0a02:0001 /sys/class/infiniband/rxe0/ports/1/gids/* && exit 0;"
	   " sleep 0.05; done; exit 1");
	first = vm_id(channel, RDMA_PS_TCP);
	second = vm_id(channel, RDMA_PS_TCP);
	TRY(rdma_bind_addr(second, vm_sockaddr(SECOND, 0)));
	TRY(rdma_bind_addr(first, vm_sockaddr(vm_address(), 0)));
	CHECK(!strcmp(ibv_get_device_name(first->verbs->device), "rxe0"));
	CHECK(!strcmp(ibv_get_device_name(second->verbs->device), "rxe1"));
	TRY(rdma_destroy_id(first));
	TRY(rdma_destroy_id(second));
	rdma_destroy_event_channel(channel);
}

/* ---- A fork while threads make ids ---- */

static atomic_bool make_stop;

static void *make_ids(void *channel)
{
	struct rdma_cm_id *id;

	while (!atomic_load(&make_stop))
		if (!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
			rdma_destroy_id(id);
	return NULL;
}

/* Its status: 0, or it is killed where it hangs. */
static int make_one(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	alarm(10);
	channel = rdma_create_event_channel();
	return !channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	       rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)) || rdma_destroy_id(id);
}

static void test_fork_beside_threads_that_make_ids_leaves_a_child_that_makes_its_own(void)
{
	struct rdma_event_channel *channel = vm_channel();
	struct rdma_cm_id *id = vm_id(channel, RDMA_PS_TCP);
	pthread_t threads[2];

	/* Looking for the drivers of devices takes the longest, and once is enough. */
	TRY(rdma_bind_addr(id, vm_sockaddr(vm_address(), 0)));
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, make_ids, channel), 0);
	for (int i = 0; i < 50; i++) {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(make_one());
		CHECK_EQ(waitpid(child, &status, 0), child);
		CHECK_EQ(status, 0);
	}
	atomic_store(&make_stop, true);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

#ifdef VM_RAI
/* F23: with RAI_DEVICELESS=1 names resolve where there is nothing else. */
static void test_names_resolve_without_a_device_where_asked(void)
{
	struct rdma_event_channel *channel;
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	sh("modprobe -qr ib_umad; rdma link del rxe0; rmmod rdma_ucm");
	REFUSED(rdma_create_event_channel() ? 0 : -1, ENODEV);
	setenv("RAI_DEVICELESS", "1", 1);
	channel = vm_channel();
	id = vm_id(channel, RDMA_PS_TCP);
	TRY(rdma_resolve_addrinfo(id, "localhost", "7000", NULL));
	CHECK_EQ(vm_expect(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED), 0);
	TRY(rdma_query_addrinfo(id, &info));
	CHECK(info->ai_dst_addr);
	REFUSED(rdma_resolve_addr(id, NULL, info->ai_dst_addr, 1000), ENODEV);
	rdma_freeaddrinfo(info);
	TRY(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}
#endif

static const struct vm_test tests[] = {
	{"test_device_added_later_is_found", test_device_added_later_is_found, 0},
	{"test_device_removed_goes_when_its_ids_are_gone", test_device_removed_goes_when_its_ids_are_gone, 30},
	{"test_connection_over_removed_device_is_told", test_connection_over_removed_device_is_told, 30},
	{"test_connections_work_while_another_device_comes_and_goes",
	 test_connections_work_while_another_device_comes_and_goes, 40},
	{"test_device_that_cannot_be_opened_is_an_error_not_null",
	 test_device_that_cannot_be_opened_is_an_error_not_null, 0},
	{"test_request_over_device_that_cannot_be_opened_is_not_delivered_null",
	 test_request_over_device_that_cannot_be_opened_is_not_delivered_null, 0},
	{"test_no_device_no_node_no_permission_are_three_errnos",
	 test_no_device_no_node_no_permission_are_three_errnos, 30},
	{"test_connection_where_the_module_is_not_loaded_yet_loads_it",
	 test_connection_where_the_module_is_not_loaded_yet_loads_it, 40},
	{"test_synchronous_id_where_the_module_is_not_loaded_yet_loads_it",
	 test_synchronous_id_where_the_module_is_not_loaded_yet_loads_it, 40},
	{"test_channel_after_the_module_was_loaded_anew_works",
	 test_channel_after_the_module_was_loaded_anew_works, 40},
	{"test_channel_where_the_node_has_another_place_finds_it_by_its_number",
	 test_channel_where_the_node_has_another_place_finds_it_by_its_number, 40},
	{"test_device_renamed_while_ids_are_bound_serves_them_and_new_ones",
	 test_device_renamed_while_ids_are_bound_serves_them_and_new_ones, 40},
	{"test_device_removed_and_added_again_by_its_name_is_another",
	 test_device_removed_and_added_again_by_its_name_is_another, 50},
	{"test_devices_in_another_order_are_told_apart", test_devices_in_another_order_are_told_apart, 40},
	{"test_fork_beside_threads_that_make_ids_leaves_a_child_that_makes_its_own",
	 test_fork_beside_threads_that_make_ids_leaves_a_child_that_makes_its_own, 50},
#ifdef VM_RAI
	{"test_channel_where_the_node_is_hidden_or_another_device_is_refused",
	 test_channel_where_the_node_is_hidden_or_another_device_is_refused, 30},
	{"test_names_resolve_without_a_device_where_asked", test_names_resolve_without_a_device_where_asked, 30},
#endif
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
