/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishing services, as far as it goes without an InfiniBand port: what is refused, and that nothing is left. */
#include "api.h"

static uint64_t registration;

static void test_service_register_refuses_null(void **state)
{
	struct rai_service service = { .name = "storage" };

	(void)state;
	assert_errno(rai_service_register(NULL, &service, &registration), EINVAL);
	assert_errno(rai_service_register(id, NULL, &registration), EINVAL);
	assert_errno(rai_service_register(id, &service, NULL), EINVAL);
	assert_errno(rai_service_unregister(NULL, 1), EINVAL);
}

static void test_service_of_an_id_that_is_bound_to_no_port_is_einval(void **state)
{
	struct rai_service service = { .name = "storage", .id = 0x77 };

	(void)state;
	assert_errno(rai_service_register(id, &service, &registration), EINVAL);
	assert_errno(rai_service_unregister(id, registration), ENOENT);
	assert_false(is_readable(channel->fd));
}

static void test_service_name_of_64_bytes_is_too_long(void **state)
{
	struct rai_service service = { .name = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" };

	(void)state;
	assert_errno(rai_service_register(id, &service, &registration), ENAMETOOLONG);
}

static void test_service_of_a_synchronous_id_is_enotsup(void **state)
{
	struct rai_service service = { .name = "storage" };
	struct rdma_cm_id *sync;

	(void)state;
	assert_int_equal(rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP), 0);
	assert_errno(rai_service_register(sync, &service, &registration), ENOTSUP);
	assert_int_equal(rdma_destroy_id(sync), 0);
}

static void test_service_event_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)RAI_EVENT_SERVICE), "RAI_EVENT_SERVICE");
}

static void test_service_list_of_an_id_that_is_bound_to_no_port_is_einval(void **state)
{
	(void)state;
	assert_errno(rai_service_list(NULL, NULL), EINVAL);
	assert_errno(rai_service_list(id, NULL), EINVAL);
	assert_false(is_readable(channel->fd));
}

static void test_service_filter_with_what_is_reserved_is_einval(void **state)
{
	(void)state;
	assert_errno(rai_service_list(id, &(struct rai_service_filter) { .reserved16 = { [2] = 1 } }), EINVAL);
	assert_errno(rai_service_list(id, &(struct rai_service_filter) { .reserved = { [3] = 1 } }), EINVAL);
}

static void test_service_filter_name_of_65_bytes_is_too_long(void **state)
{
	char name[66] = "";

	(void)state;
	memset(name, 'x', 65);
	assert_errno(rai_service_list(id, &(struct rai_service_filter) { .name = name }), ENAMETOOLONG);
}

static void test_service_remove_of_no_record_is_einval(void **state)
{
	struct rai_service_record record = { .id = 1, .gid = { 0xfe, 0x80, [15] = 1 } };

	(void)state;
	assert_errno(rai_service_remove(NULL, &record), EINVAL);
	assert_errno(rai_service_remove(id, NULL), EINVAL);
	assert_errno(rai_service_remove(id, &record), EINVAL);
	record.id = 0;
	assert_errno(rai_service_remove(id, &record), EINVAL);
	assert_false(is_readable(channel->fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_service_register_refuses_null),
		API_TEST(test_service_of_an_id_that_is_bound_to_no_port_is_einval),
		API_TEST(test_service_name_of_64_bytes_is_too_long),
		API_TEST(test_service_of_a_synchronous_id_is_enotsup),
		API_TEST(test_service_event_has_a_name),
		API_TEST(test_service_list_of_an_id_that_is_bound_to_no_port_is_einval),
		API_TEST(test_service_filter_with_what_is_reserved_is_einval),
		API_TEST(test_service_filter_name_of_65_bytes_is_too_long),
		API_TEST(test_service_remove_of_no_record_is_einval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
