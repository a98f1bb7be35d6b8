/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synchronous calls where messages of the connection manager are lost: every one of them ends. The suite drops what the
 * test's name says; needs the layout "netns". The server is here, its client a process in the namespace "far".
 */
#include "vm.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#define NEAR "10.5.0.1"
#define READY "/run/loss.ready"		/* made when the connection is there */
#define GO "/run/loss.go"		/* a FIFO: it can be read when messages are dropped */

static struct rdma_conn_param param(void)
{
	struct rdma_conn_param all = vm_param(NULL, 0);

	/*
	 * A number that no other connection has: where a REQ names a queue pair of the peer's that is in use, the kernel
	 * takes the connection that uses it for a stale one, and sends a DREQ for it on its own.
	 */
	all.qp_num = (uint32_t)getpid() & 0xffffff;
	return all;
}

static void enter_far(void)
{
	int fd = open("/run/netns/far", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		vm_skip("no second namespace");
	CHECK_EQ(setns(fd, CLONE_NEWNET), 0);
	close(fd);
}

static struct rdma_cm_id *sync_listener(void)
{
	struct rdma_cm_id *listener;

	TRY(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	TRY(rdma_bind_addr(listener, vm_sockaddr(NEAR, 0)));
	TRY(rdma_listen(listener, 4));
	return listener;
}

/* What goes wrong in the client ends the test; it has said why. */
static void *watch_client(void *arg)
{
	siginfo_t info = {.si_pid = 0};
	pid_t child = (pid_t)(intptr_t)arg;
	int ret;

	while ((ret = waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT)) && errno == EINTR)
		;
	/* Else end_client() had it first. */
	if (!ret && (info.si_code != CLD_EXITED || info.si_status))
		_exit(1);
	return NULL;
}

/* The client, in a process of its own, on a synchronous id that has a route. */
static pid_t start_client(struct rdma_cm_id *listener, void (*run)(struct rdma_cm_id *id))
{
	uint16_t port = ntohs(rdma_get_src_port(listener));
	struct rdma_cm_id *id;
	pthread_t watcher;
	pid_t child = fork();

	CHECK(child >= 0);
	if (child) {
		CHECK_EQ(pthread_create(&watcher, NULL, watch_client, (void *)(intptr_t)child), 0);
		return child;
	}
	enter_far();
	TRY(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	TRY(rdma_resolve_addr(id, NULL, vm_sockaddr(NEAR, port), VM_STEP_MS));
	TRY(rdma_resolve_route(id, VM_STEP_MS));
	run(id);
	TRY(rdma_destroy_id(id));
	exit(0);
}

static void end_client(pid_t child)
{
	int status;

	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct rdma_cm_id *sync_request(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;

	TRY(rdma_get_request(listener, &id));
	return id;
}

static void connect_and_disconnect(struct rdma_cm_id *id)
{
	struct rdma_conn_param all = param();

	TRY(rdma_connect(id, &all));
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_CONNECT_RESPONSE);
	TRY(rdma_establish(id));
	TRY(rdma_disconnect(id));
}

static void test_accept_ends_when_the_peer_disconnects_and_its_rtu_was_lost(void)
{
	struct rdma_cm_id *listener = sync_listener(), *id;
	pid_t client = start_client(listener, connect_and_disconnect);
	struct rdma_conn_param all = param();

	id = sync_request(listener);
#ifdef VM_RAI
	REFUSED(rdma_accept(id, &all), ECONNRESET);
#else
	TRY(rdma_accept(id, &all));
#endif
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_DISCONNECTED);
	TRY(rdma_disconnect(id));
	TRY(rdma_destroy_id(id));
	TRY(rdma_destroy_id(listener));
	end_client(client);
}

static void connect_in_vain(struct rdma_cm_id *id)
{
	struct rdma_conn_param all = param();

	REFUSED(rdma_connect(id, &all), ETIMEDOUT);
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_UNREACHABLE);
}

static void test_connect_and_accept_end_when_the_rep_is_lost(void)
{
	struct rdma_cm_id *listener = sync_listener(), *id;
	pid_t client = start_client(listener, connect_in_vain);
	struct rdma_conn_param all = param();

	id = sync_request(listener);
	REFUSED(rdma_accept(id, &all), ETIMEDOUT);
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_UNREACHABLE);
	TRY(rdma_destroy_id(id));
	TRY(rdma_destroy_id(listener));
	end_client(client);
}

static void test_connect_ends_when_the_reject_is_lost(void)
{
	struct rdma_cm_id *listener = sync_listener(), *id;
	pid_t client = start_client(listener, connect_in_vain);

	id = sync_request(listener);
	TRY(rdma_reject(id, NULL, 0));
	TRY(rdma_destroy_id(id));
	end_client(client);
	TRY(rdma_destroy_id(listener));
}

static void disconnect_in_vain(struct rdma_cm_id *id)
{
	struct rdma_conn_param all = param();
	int fd;

	TRY(rdma_connect(id, &all));
	TRY(rdma_establish(id));
	close(open(READY, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	fd = open(GO, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	close(fd);
	REFUSED(rdma_disconnect(id), ETIMEDOUT);
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_DISCONNECTED);
}

/* The server was told nothing: it was lost indeed. */
static void expect_connected(struct rdma_cm_id *id)
{
	struct pollfd due = {.fd = id->channel->fd, .events = POLLIN};

	CHECK_EQ(poll(&due, 1, 0), 0);
}

static void test_disconnect_ends_when_the_dreq_is_lost(void)
{
	struct rdma_cm_id *listener = sync_listener(), *id;
	pid_t client = start_client(listener, disconnect_in_vain);
	struct rdma_conn_param all = param();

	id = sync_request(listener);
	TRY(rdma_accept(id, &all));
	end_client(client);
	expect_connected(id);
	TRY(rdma_destroy_id(id));
	TRY(rdma_destroy_id(listener));
}

#define SLOW(name) {#name, name, 240}
static const struct vm_test tests[] = {
	{"test_accept_ends_when_the_peer_disconnects_and_its_rtu_was_lost",
	 test_accept_ends_when_the_peer_disconnects_and_its_rtu_was_lost, 30},
	SLOW(test_connect_and_accept_end_when_the_rep_is_lost),
	SLOW(test_connect_ends_when_the_reject_is_lost),
	SLOW(test_disconnect_ends_when_the_dreq_is_lost),
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
