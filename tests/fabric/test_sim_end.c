/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of a fabric that end while packets are on their way to them. */
#include <infiniband/umad.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SUBNET_CLASS = 0x81, GET = 1, NODE_INFO = 0x11, MAD = 256, PERMISSIVE_LID = 0xffff };
enum { ENDS = 300, ASKED = 16, STATUS = 3 };

extern char **environ;

/* IBTA 1.7, 14.2.1.2: a directed route of no hops, to the port of this process. */
static void ask(int port, int agent, uint32_t tid)
{
	uint8_t umad[sizeof(struct ib_user_mad) + MAD] = { 0 }, *mad = umad_get_mad(umad);

	mad[0] = 1;
	mad[1] = SUBNET_CLASS;
	mad[2] = 1;
	mad[3] = GET;
	memcpy(mad + 12, &tid, sizeof(tid));
	mad[17] = NODE_INFO;
	memset(mad + 32, 0xff, 4);
	umad_set_addr(umad, PERMISSIVE_LID, 0, 0, 0);
	if (umad_send(port, agent, umad, MAD, 1000, 0))
		_exit(1);
}

/* One that asks, waits for as many answers as it is told and ends while the others come. */
static int asker(unsigned answers)
{
	uint8_t umad[sizeof(struct ib_user_mad) + MAD];
	int port = umad_open_port(NULL, 0), agent = umad_register(port, SUBNET_CLASS, 1, 0, NULL), len = MAD;

	if (port < 0 || agent < 0)
		return 1;
	for (uint32_t i = 0; i < ASKED; i++)
		ask(port, agent, i + 1);
	while (answers--)
		if (umad_recv(port, umad, &len, 5000) < 0)
			return 1;
	return STATUS;
}

static void test_process_that_ends_under_packets_ends_with_its_status(void **state)
{
	char answers[12], *argv[] = { "test_sim_end", answers, NULL };
	pid_t pid;
	int status;

	(void)state;
	for (int i = 0; i < ENDS; i++) {
		snprintf(answers, sizeof(answers), "%d", i % ASKED);
		assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), STATUS);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_that_ends_under_packets_ends_with_its_status),
	};

	return argc > 1 ? asker((unsigned)atoi(argv[1])) : cmocka_run_group_tests(tests, NULL, NULL);
}
