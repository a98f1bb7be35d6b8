/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment sets. It is read once, so each case is a process of its own. */
#include <sys/wait.h>
#include <unistd.h>

#include "resolve/config.h"
#include "resolve/resolve.h"
#include "test.h"

struct setting {
	const char *deadline, *keep;
	struct rcm_config want;
};

static bool child_sees(const struct setting *s)
{
	const struct rcm_config *config;
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (s->deadline)
			setenv("RAI_DEADLINE_MS", s->deadline, 1);
		if (s->keep)
			setenv("RAI_SA_KEEP_MS", s->keep, 1);
		config = rcm_config_get();
		_exit(config->deadline_ms != s->want.deadline_ms || config->sa_keep_ms != s->want.sa_keep_ms);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !status;
}

/* F31: the deadline by environment. */
static void test_config_takes_numbers_from_the_environment(void **state)
{
	(void)state;
	assert_true(child_sees(&(struct setting){ NULL, NULL, { RCM_DEADLINE_DEFAULT, 0 } }));
	assert_true(child_sees(&(struct setting){ "250", "500", { 250, 500 } }));
	assert_true(child_sees(&(struct setting){ "000000000250", "9", { 250, 9 } }));
	assert_true(child_sees(&(struct setting){ "0", "4294967294", { 0, 4294967294 } }));
}

static void test_config_takes_anything_else_for_not_set(void **state)
{
	static const char *const odd[] = {
		"", "-1", "+5", " 5", "5 ", "0x10", "ten", "4294967295", "99999999999", "18446744073709551617",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		assert_true(child_sees(&(struct setting){ odd[i], odd[i], { RCM_DEADLINE_DEFAULT, 0 } }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_takes_numbers_from_the_environment),
		cmocka_unit_test(test_config_takes_anything_else_for_not_set),
	};

	unsetenv("RAI_DEADLINE_MS");
	unsetenv("RAI_SA_KEEP_MS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
