/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on a connection, in whatever pieces they come. */
#include "dns/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static struct rcm_stream stream;
static int server;
static unsigned taken, wanted;
static size_t lengths[4];

static int set_up(void **state)
{
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
		return -1;
	stream = (struct rcm_stream){ .fd = ends[0] };
	server = ends[1];
	taken = 0;
	wanted = 4;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_stream_done(&stream);
	close(stream.fd);
	close(server);
	return 0;
}

/* Each message is filled with the low octet of its length. */
static bool take(struct rcm_stream *from, const uint8_t *bytes, size_t len)
{
	assert_ptr_equal(from, &stream);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], (uint8_t)len);
	lengths[taken++] = len;
	return taken < wanted;
}

static size_t message(uint8_t *to, size_t len)
{
	to[0] = (uint8_t)(len >> 8);
	to[1] = (uint8_t)len;
	memset(to + 2, (uint8_t)len, len);
	return len + 2;
}

static void send_all(const uint8_t *bytes, size_t len)
{
	assert_int_equal(send(server, bytes, len, 0), len);
}

static void test_stream_messages_in_one_piece_are_handed_out_in_order(void **state)
{
	uint8_t bytes[64];
	size_t len = message(bytes, 7);

	(void)state;
	len += message(bytes + len, 0);
	len += message(bytes + len, 20);
	send_all(bytes, len);
	assert_int_equal(rcm_stream_receive(&stream, take), len);
	assert_int_equal(taken, 3);
	assert_int_equal(lengths[0], 7);
	assert_int_equal(lengths[1], 0);
	assert_int_equal(lengths[2], 20);
}

static void test_stream_message_octet_by_octet_is_handed_out_once(void **state)
{
	uint8_t bytes[64];
	size_t len = message(bytes, 30);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(taken, 0);
		send_all(bytes + i, 1);
		assert_int_equal(rcm_stream_receive(&stream, take), 1);
	}
	assert_int_equal(taken, 1);
	assert_int_equal(rcm_stream_receive(&stream, take), -EAGAIN);
}

/* More is there than there is room behind the beginning of the longest: it waits in the socket. */
static void test_stream_longest_message_in_pieces_leaves_the_next_for_later(void **state)
{
	const size_t longest = 65535 + 2, first = 40000;
	uint8_t *bytes = malloc(2 * longest);
	int room = 1 << 20;

	(void)state;
	assert_non_null(bytes);
	setsockopt(server, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	message(bytes, 65535);
	message(bytes + longest, 65535);
	send_all(bytes, first);
	while (stream.in_len < first)
		assert_true(rcm_stream_receive(&stream, take) > 0);
	send_all(bytes + first, 2 * longest - first);
	while (taken < 2)
		assert_true(rcm_stream_receive(&stream, take) > 0);
	assert_int_equal(stream.in_len, 0);
	free(bytes);
}

/* Who needs no more says so; the others stay for later. */
static void test_stream_taker_that_has_enough_is_given_no_more(void **state)
{
	uint8_t bytes[64];
	size_t len = message(bytes, 7);

	(void)state;
	wanted = 1;
	len += message(bytes + len, 9);
	send_all(bytes, len);
	assert_int_equal(rcm_stream_receive(&stream, take), len);
	assert_int_equal(taken, 1);
	assert_int_equal(stream.in_len, 11);
}

static void test_stream_that_the_server_ended_is_told_as_such(void **state)
{
	(void)state;
	shutdown(server, SHUT_WR);
	assert_int_equal(rcm_stream_receive(&stream, take), 0);
}

/* ---- Sending ---- */

static unsigned written, to_write;
static size_t write_len;

static size_t next(struct rcm_stream *of, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	assert_ptr_equal(of, &stream);
	if (written == to_write)
		return 0;
	/* All that may be written of one is there to be. */
	memset(bytes, 0xee, RCM_MESSAGE_QUESTION_MAX);
	memset(bytes, (uint8_t)(written++), write_len);
	return write_len;
}

/* Reads what there is, and checks that it are messages as next() writes them, this one and so on; how many octets. */
static size_t receive_written(size_t behind)
{
	uint8_t bytes[1 << 16];
	ssize_t n = recv(server, bytes, sizeof(bytes), MSG_DONTWAIT);

	assert_true(n > 0);
	for (ssize_t i = 0; i < n; i++) {
		size_t message_at = (behind + (size_t)i) / (write_len + 2), at = (behind + (size_t)i) % (write_len + 2);

		assert_int_equal(bytes[i], !at ? write_len >> 8 : at == 1 ? write_len & 0xff : message_at & 0xff);
	}
	return (size_t)n;
}

static void test_stream_sends_each_message_behind_its_length(void **state)
{
	static const size_t lens[] = { 1, 17, 255, 256, RCM_MESSAGE_QUESTION_MAX };
	uint8_t octet;

	(void)state;
	/* As many as have no room in its memory at once. */
	to_write = 2 * RCM_STREAM_OUT / RCM_MESSAGE_QUESTION_MAX + 1;
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		written = 0;
		write_len = lens[i];
		assert_int_equal(rcm_stream_send(&stream, next), 0);
		assert_int_equal(written, to_write);
		assert_int_equal(stream.out_len, 0);
		for (size_t got = 0; got < to_write * (write_len + 2);)
			got += receive_written(got);
		assert_int_equal(recv(server, &octet, 1, MSG_DONTWAIT), -1);
	}
}

/* Another has to have room whatever its length: of messages of 4 octets there are so many until that is just so. */
static void test_stream_gathers_as_many_messages_as_have_room(void **state)
{
	static const struct { size_t len; unsigned count; } rows[] = {
		{ RCM_MESSAGE_QUESTION_MAX, RCM_STREAM_OUT / (RCM_MESSAGE_QUESTION_MAX + 2) },
		{ 2, (RCM_STREAM_OUT - RCM_MESSAGE_QUESTION_MAX - 2) / 4 + 1 },
	};

	(void)state;
	to_write = 10000;
	shutdown(stream.fd, SHUT_WR);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		written = 0;
		write_len = rows[i].len;
		stream.out_at = stream.out_len = 0;
		assert_int_equal(rcm_stream_send(&stream, next), -EPIPE);
		assert_int_equal(written, rows[i].count);
		assert_int_equal(stream.out_len, rows[i].count * (rows[i].len + 2));
	}
}

static void test_stream_that_takes_no_more_goes_on_where_it_stopped(void **state)
{
	size_t got = 0, all;
	int ret;

	(void)state;
	written = 0;
	to_write = 10000;
	write_len = 100;
	all = to_write * (write_len + 2);
	do {
		ret = rcm_stream_send(&stream, next);
		assert_true(ret == 0 || ret == -EAGAIN);
		got += receive_written(got);
	} while (ret);
	while (got < all)
		got += receive_written(got);
	assert_int_equal(written, to_write);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_stream_messages_in_one_piece_are_handed_out_in_order),
		T(test_stream_message_octet_by_octet_is_handed_out_once),
		T(test_stream_longest_message_in_pieces_leaves_the_next_for_later),
		T(test_stream_taker_that_has_enough_is_given_no_more),
		T(test_stream_that_the_server_ended_is_told_as_such),
		T(test_stream_sends_each_message_behind_its_length),
		T(test_stream_gathers_as_many_messages_as_have_room),
		T(test_stream_that_takes_no_more_goes_on_where_it_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
