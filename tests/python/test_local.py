# SPDX-License-Identifier: BSD-2-Clause
"""The Python package without a network: what it prints of numbers and refusals, and that nothing is left."""
import asyncio
import ctypes
import errno
import gc
import os
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import rai
from rai import _library, _ports, _results

SOURCE = Path(__file__).resolve().parents[2]


def descriptors():
    return len(os.listdir("/proc/self/fd"))


async def ask_once():
    return await rai.resolve("192.0.2.1", 1)


def leave_under_way(own):
    """A loop that is closed before an event is taken, and the channel if it is one of its own."""
    async def open_channel():
        return rai.Channel() if own else None

    async def ask(channel):
        await rai.resolve("192.0.2.1", 1, channel=channel)

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # a task that is destroyed while it waits is what is wanted here
    channel = loop.run_until_complete(open_channel())
    task = loop.create_task(ask(channel))
    # By a callback, not a pass of the loop, which would take the event that is due at once.
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert not task.done()
    loop.close()
    return loop, channel


class Local(unittest.IsolatedAsyncioTestCase):
    async def test_resolve_of_a_number_is_the_number(self):
        found = await rai.resolve("192.0.2.1", 7471)
        self.assertEqual([(one.family, one.sockaddr, one.qp_type) for one in found],
                         [(socket.AF_INET, ("192.0.2.1", 7471), "RC")])

    async def test_resolve_of_a_scoped_address_has_its_scope(self):
        one, = await rai.resolve("fe80::1%lo", 80)
        self.assertEqual(one.sockaddr, ("fe80::1", 80, 0, socket.if_nametoindex("lo")))

    async def test_resolve_for_datagrams_says_so(self):
        one, = await rai.resolve("192.0.2.1", 80, datagram=True)
        self.assertEqual((one.qp_type, one.port_space), ("UD", "UDP"))

    async def test_resolve_passive_without_a_node_is_the_wildcard(self):
        hosts = {one.host for one in await rai.resolve(None, 80, passive=True)}
        self.assertEqual(hosts, {"0.0.0.0", "::"})

    async def test_resolve_of_a_gid_is_ib(self):
        one, = await rai.resolve("fe80::10:5", 80, family=27, numeric=True)
        self.assertEqual((one.family, one.host, one.port), (27, "fe80::10:5", 80))

    async def test_resolve_of_what_is_no_argument_is_einval(self):
        for node in ("", "\N{SNOWMAN}" * 100):
            with self.assertRaises(rai.Error) as caught:
                await rai.resolve(node)
            self.assertIn(caught.exception.errno, (errno.EINVAL, errno.ENAMETOOLONG))
        with self.assertRaises(ValueError):
            await rai.resolve("a\0b")

    async def test_resolve_of_a_number_of_another_family_is_not_found(self):
        with self.assertRaises(rai.NotFoundError) as caught:
            await rai.resolve("192.0.2.1", family=socket.AF_INET6)
        self.assertEqual(caught.exception.errno, errno.ENODATA)
        self.assertIn("another family", str(caught.exception))

    async def test_many_resolutions_at_once_each_get_their_own(self):
        found = await asyncio.gather(*(rai.resolve(f"192.0.2.{i % 250}", i + 1) for i in range(1000)))
        self.assertEqual([one.port for one, in found], list(range(1, 1001)))

    async def test_channel_of_ones_own_is_closed_by_its_context(self):
        async with rai.Channel() as channel:
            one, = await rai.resolve("192.0.2.1", 1, channel=channel)
            self.assertEqual(one.port, 1)
        self.assertTrue(channel.closed)
        with self.assertRaises(rai.Error) as caught:
            await rai.resolve("192.0.2.1", channel=channel)
        self.assertEqual(caught.exception.errno, errno.EBADF)

    async def test_channel_that_is_dropped_leaves_its_number_to_others(self):
        channel = rai.Channel()
        number = channel.pointer.contents.fd
        await rai.resolve("192.0.2.1", channel=channel)
        del channel
        gc.collect()
        one, other = socket.socketpair()
        with one, other:
            self.assertEqual(one.fileno(), number)
            one.setblocking(False)
            other.send(b"x")
            self.assertEqual(await asyncio.get_running_loop().sock_recv(one, 1), b"x")
            waits = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(one, 1))
            await asyncio.sleep(0)
            other.send(b"y")
            self.assertEqual(await waits, b"y")

    async def test_channel_that_another_thread_drops_is_taken_from_its_loop(self):
        channels = [rai.Channel()]
        number = channels[0].pointer.contents.fd
        await asyncio.get_running_loop().run_in_executor(None, channels.clear)
        while os.path.exists(f"/proc/self/fd/{number}"):
            await asyncio.sleep(0)
        self.assertFalse(asyncio.get_running_loop().remove_reader(number))

    async def test_channel_of_another_loop_is_refused(self):
        channel = rai.Channel()
        self.addCleanup(channel.close)

        def elsewhere():
            with self.assertRaises(RuntimeError):
                asyncio.run(rai.resolve("192.0.2.1", channel=channel))

        await asyncio.get_running_loop().run_in_executor(None, elsewhere)
        self.assertEqual(len(await rai.resolve("192.0.2.1", channel=channel)), 1)

    async def test_channel_that_a_forks_child_closes_stays_the_parents(self):
        channel = rai.Channel()
        self.addCleanup(channel.close)
        child = os.fork()
        if not child:
            try:
                channel.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(len(await rai.resolve("192.0.2.1", channel=channel)), 1)

    async def test_numbers_that_are_too_large_are_refused(self):
        for wrong in (-1, 1 << 16):
            with self.assertRaises(ValueError):
                await rai.resolve("192.0.2.1", wrong)
        for wrong in (-1, 1 << 64):
            with self.assertRaises(ValueError):
                await rai.resolve_service(wrong)
        for wrong in ({"id": 1 << 64}, {"pkey": 1 << 16}, {"lease": -1}, {"preference": 256}):
            with self.assertRaises(ValueError):
                rai.publish("a", **wrong)
        with self.assertRaises(ValueError):
            await rai.list_services(pkey=-1)

    async def test_arguments_of_another_type_are_told_as_such(self):
        for wrong, why in (
            ({"node": b"a"}, "^node is a str, not bytes: b'a'$"), ({"node": 5}, "^node is a str, not int"),
            ({"node": "192.0.2.1", "service": b"80"}, "^service is a str, not bytes"),
            ({"node": "192.0.2.1", "service": 80.0}, "^service is a str, not float: 80.0$"),
            ({"node": "192.0.2.1", "timeout": "1"}, "^timeout is a number of seconds, not str: '1'$"),
        ):
            with self.assertRaisesRegex(TypeError, why):
                await rai.resolve(**wrong)
        for wrong, why in (
            ({"name": 5}, "^name is a str, not int"), ({"id": "x"}, "^id is an int, not str: 'x'$"),
            ({"gid": 5}, "^a GID is a str or an IPv6Address, not int: 5$"), ({"pkey": 1.5}, "^pkey is an int"),
        ):
            with self.assertRaisesRegex(TypeError, why):
                await rai.list_services(**wrong)
        for wrong in ({"name": b"a"}, {"name": "a", "lease": "5"}, {"name": "a", "data": "abc"}, {"name": "a", "id": 1.0}):
            with self.assertRaises(TypeError):
                rai.publish(**wrong)

    async def test_resolve_of_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "both None"):
            await rai.resolve(None)

    async def test_timeout_that_is_no_number_is_refused_and_what_is_over_is_a_millisecond(self):
        with self.assertRaisesRegex(ValueError, "NaN"):
            await rai.resolve("192.0.2.1", timeout=float("nan"))
        for timeout in (0, -1, float("-inf"), True):
            self.assertEqual(len(await rai.resolve("192.0.2.1", timeout=timeout)), 1)

    async def test_what_cannot_be_published_says_what_is_wrong(self):
        for wrong, why in (
            ({"name": ""}, "number"), ({"name": "7"}, "number"), ({"name": "0x1F", "id": 1}, "number"),
            ({"name": None}, "a name or an id"), ({"name": "a", "lease": 86401}, "86400"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                rai.publish(**wrong)

    async def test_stats_count(self):
        before = rai.stats().resolved
        await rai.resolve("192.0.2.1")
        self.assertEqual(rai.stats().resolved, before + 1)

    @unittest.skipIf(os.path.exists("/sys/class/infiniband"), "this host has RDMA devices")
    async def test_services_without_a_port_are_enodev(self):
        self.assertEqual(rai.ports(), [])
        for call in (rai.resolve_service("a"), rai.list_services(), rai.resolve_service("a", port="mlx5_0/1")):
            with self.assertRaises(rai.Error) as caught:
                await call
            self.assertEqual(caught.exception.errno, errno.ENODEV)
        with self.assertRaises(rai.Error):
            rai.publish("a")


class Process(unittest.TestCase):
    def test_version_is_that_of_package_and_library(self):
        self.assertEqual(rai.version(), rai.__version__)
        self.assertIn(f'version = "{rai.__version__}"', (SOURCE / "python/pyproject.toml").read_text())

    def test_loops_one_after_the_other_leave_no_descriptor(self):
        async def ask():
            return await rai.resolve("192.0.2.1", 1)

        asyncio.run(ask())
        gc.collect()
        before = descriptors()
        for _ in range(20):
            self.assertEqual(len(asyncio.run(ask())), 1)
        gc.collect()
        self.assertEqual(descriptors(), before)

    def test_loop_that_ends_with_something_under_way_leaves_nothing(self):
        for own in (False, True):
            with self.subTest(own_channel=own):
                asyncio.run(ask_once())
                gc.collect()
                before = descriptors()
                for _ in range(20):
                    leave_under_way(own)
                gc.collect()
                self.assertEqual((descriptors(), rai.stats().outstanding), (before, 0))

    def test_channel_that_outlives_its_loop_is_closed_all_the_same(self):
        asyncio.run(ask_once())
        gc.collect()
        before = descriptors()
        loop, channel = leave_under_way(True)
        channel.close()
        self.assertTrue(channel.closed)
        del loop, channel
        gc.collect()
        self.assertEqual((descriptors(), rai.stats().outstanding), (before, 0))

    def test_gids_are_read_as_people_write_them(self):
        self.assertEqual(str(_ports.read_gid("fe80:0::10:5")), "fe80::10:5")
        self.assertEqual(_ports.read_gid(bytes(15) + b"\1"), _ports.read_gid("::1"))
        with self.assertRaises(ValueError):
            _ports.read_gid("mlx5_0")

    def test_port_that_is_none_is_told_as_such(self):
        with self.assertRaisesRegex(ValueError, "^port is neither DEVICE/PORT nor a GID: 'mlx5_0'$"):
            _ports.choose("mlx5_0")

    def test_path_record_is_read_as_it_is_on_the_wire(self):
        raw = bytearray(64)
        raw[8:24], raw[24:40] = _ports.read_gid("fe80::5").packed, _ports.read_gid("fe80::1").packed
        raw[40:44], raw[44:48] = b"\0\4\0\1", b"\0\1\2\x40"
        raw[48], raw[50:52], raw[53], raw[54] = 7, b"\x80\1", 0xF3, 0x84
        path = _results._path(bytes(raw))
        self.assertEqual((str(path.dgid), str(path.sgid), path.dlid, path.slid), ("fe80::5", "fe80::1", 4, 1))
        self.assertEqual((path.hop_limit, path.flow_label, path.traffic_class), (0x40, 0x102, 7))
        self.assertEqual((path.pkey, path.sl, path.mtu), (0x8001, 3, 2048))

    def test_structs_are_laid_out_as_in_the_headers(self):
        structs = {
            "struct rdma_addrinfo": _library.AddrInfo, "struct rai_service": _library.Service,
            "struct rai_service_record": _library.Record, "struct rai_service_filter": _library.Filter,
            "struct rai_stats": _library.Stats, "struct sockaddr_ib": _library.SockaddrIb,
        }
        heads = {"struct rdma_cm_id": _library.CmId, "struct rdma_cm_event": _library.CmEvent}
        lines, expected = [], []
        for name, layout in {**structs, **heads}.items():
            if name in structs:
                lines.append(f"sizeof({name})")
                expected.append(ctypes.sizeof(layout))
            for member, *_ in layout._fields_:
                lines.append(f"offsetof({name}, {member})")
                expected.append(getattr(layout, member).offset)
        text = "#include <infiniband/ib.h>\n#include <rdma/rai.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
        text += "".join(f'printf("%zu\\n", {line});\n' for line in lines) + "return 0; }\n"
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/layout"
            subprocess.run(["cc", "-I", str(SOURCE / "include"), "-x", "c", "-", "-o", program], input=text, text=True,
                           check=True)
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(list(map(int, said)), expected)


if __name__ == "__main__":
    unittest.main()
