# SPDX-License-Identifier: BSD-2-Clause
"""The Python package among real name servers (scripts/dns/world)."""
import asyncio
import errno
import os
import signal
import socket
import time
import unittest

import rai


class Names(unittest.IsolatedAsyncioTestCase):
    async def test_resolve_has_all_addresses_of_a_name_with_the_port(self):
        found = await rai.resolve("four.rai.test", "7471", family=socket.AF_INET)
        wanted = {entry[4] for entry in await asyncio.get_running_loop().getaddrinfo(
            "four.rai.test", 7471, family=socket.AF_INET, type=socket.SOCK_STREAM)}
        self.assertEqual(len(wanted), 4)
        self.assertEqual({one.sockaddr for one in found}, wanted)
        self.assertEqual({one.canonname for one in found}, {"four.rai.test"})

    async def test_resolve_of_an_unknown_name_says_who_said_so(self):
        with self.assertRaises(rai.NotFoundError) as caught:
            await rai.resolve("nowhere.rai.test")
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        self.assertEqual(caught.exception.code, socket.EAI_NONAME)
        self.assertIn("says that there is no such name", caught.exception.strerror)

    async def test_resolve_by_a_service_name_has_its_port(self):
        self.assertEqual({one.port for one in await rai.resolve("four.rai.test", "http")}, {80})

    async def test_resolve_by_the_hosts_file_alone_asks_no_server(self):
        with self.assertRaises(rai.NotFoundError):
            await rai.resolve("four.rai.test", source=rai.Source.HOSTS)
        self.assertTrue(await rai.resolve("localhost", source=rai.Source.HOSTS))


class Silence(unittest.IsolatedAsyncioTestCase):
    """While the name server is stopped."""

    def setUp(self):
        os.kill(-int(os.environ["RAI_DNS_NSD_PGRP"]), signal.SIGSTOP)

    def tearDown(self):
        os.kill(-int(os.environ["RAI_DNS_NSD_PGRP"]), signal.SIGCONT)

    async def test_resolve_ends_at_its_timeout(self):
        started = time.monotonic()
        with self.assertRaises(TimeoutError) as caught:
            await rai.resolve("a.silent.rai.test", timeout=0.3)
        self.assertIsInstance(caught.exception, rai.ResolveTimeoutError)
        self.assertGreaterEqual(time.monotonic() - started, 0.29)

    async def test_resolve_does_not_hold_up_the_loop(self):
        ticks = 0
        task = asyncio.ensure_future(rai.resolve("b.silent.rai.test", timeout=0.5))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        self.assertIsInstance(task.exception(), TimeoutError)
        self.assertGreater(ticks, 5)

    async def test_resolve_of_a_cancelled_task_is_given_up(self):
        before = rai.stats().cancelled
        task = asyncio.ensure_future(rai.resolve("c.silent.rai.test", timeout=float("inf")))
        await asyncio.sleep(0)
        self.assertEqual(rai.stats().outstanding, 1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        while rai.stats().outstanding:
            await asyncio.sleep(0.01)
        self.assertEqual(rai.stats().cancelled, before + 1)

    async def test_resolve_within_wait_for_is_given_up_at_its_end(self):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(rai.resolve("d.silent.rai.test", timeout=60), 0.1)
        while rai.stats().outstanding:
            await asyncio.sleep(0.01)

    async def test_channel_that_is_closed_ends_what_is_under_way(self):
        channel = rai.Channel()
        task = asyncio.ensure_future(rai.resolve("e.silent.rai.test", timeout=60, channel=channel))
        await asyncio.sleep(0)
        channel.close()
        with self.assertRaises(rai.Error) as caught:
            await task
        self.assertEqual(caught.exception.errno, errno.ECANCELED)


if __name__ == "__main__":
    unittest.main()
