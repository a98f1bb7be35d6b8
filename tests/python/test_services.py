# SPDX-License-Identifier: BSD-2-Clause
"""The Python package beside OpenSM, as host hca2 of a fabric (scripts/fabric/world)."""
import asyncio
import errno
import ipaddress
import os
import subprocess
import unittest

import rai

OWN = ipaddress.IPv6Address("fe80::10:3")


def world(*words):
    """What happens to the fabric; the script is no part of it."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([os.environ["RAI_FABRIC"], *words], env=environment, check=True)


def register(host, *words):
    world("on", host, os.environ["RAI_FABRIC_PARTS"] + "/records", *words)


class Services(unittest.IsolatedAsyncioTestCase):
    async def test_ports_are_those_of_the_host(self):
        port, = rai.ports()
        self.assertEqual((port.name, port.gid, port.active), ("ibsim0/1", OWN, True))

    async def test_service_is_found_by_name_and_id_with_its_paths(self):
        register("hca1", "-n", "storage", "-i", "0x1000", "-l", "600")
        register("hca3", "-n", "storage", "-i", "0x1000")
        for service in ("storage", 0x1000):
            found = await rai.resolve_service(service)
            self.assertEqual({str(one.gid) for one in found}, {"fe80::10:1", "fe80::10:5"})
            self.assertEqual({one.source for one in found}, {OWN})
            for one in found:
                path, = one.paths
                self.assertEqual((path.sgid, path.dgid, path.mtu in (2048, 4096)), (OWN, one.gid, True))
        first, = [one for one in found if str(one.gid) == "fe80::10:1"]
        self.assertEqual((first.record.name, first.record.lease, first.record.pkey), ("storage", 600, 0xFFFF))
        last, = [one for one in found if str(one.gid) == "fe80::10:5"]
        self.assertIsNone(last.record.lease)

    async def test_service_without_paths_and_of_listed_gids(self):
        register("hca1", "-n", "vault", "-i", "0x1001")
        register("hca3", "-n", "vault", "-i", "0x1001")
        one, = await rai.resolve_service("vault", port="ibsim0/1", paths=False, gids=["fe80::10:1"])
        self.assertEqual((str(one.gid), one.paths), ("fe80::10:1", ()))

    async def test_service_that_nobody_registered_is_not_found(self):
        with self.assertRaises(rai.NotFoundError) as caught:
            await rai.resolve_service("nothing")
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        self.assertIn("at the SA", caught.exception.strerror)

    async def test_list_has_what_agrees(self):
        register("hca1", "-n", "listed", "-i", "0x1002")
        register("hca3", "-n", "listed", "-i", "0x1003")
        self.assertEqual([record.id for record in await rai.list_services("listed")], [0x1002, 0x1003])
        self.assertEqual([record.id for record in await rai.list_services("listed", gid="fe80::10:5")], [0x1003])
        self.assertEqual(await rai.list_services("listed", id=0x1004), [])
        self.assertGreaterEqual(len(await rai.list_services()), 2)

    async def test_record_is_removed_once(self):
        register("hca3", "-n", "stale", "-i", "0x1005")
        record, = await rai.list_services("stale")
        await rai.remove_service(record)
        self.assertEqual(await rai.list_services("stale"), [])
        with self.assertRaises(rai.NotFoundError):
            await rai.remove_service(record)

    async def test_silent_administrator_is_a_timeout_and_may_be_cancelled(self):
        world("sm", "pause")
        try:
            with self.assertRaises(TimeoutError):
                await rai.resolve_service("storage", timeout=0.3)
            task = asyncio.ensure_future(rai.list_services(timeout=float("inf")))
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        finally:
            world("sm", "continue")
        while rai.stats().outstanding:
            await asyncio.sleep(0.01)


class Publishing(unittest.IsolatedAsyncioTestCase):
    async def test_publication_is_there_within_its_context_and_not_after(self):
        async with rai.publish("mine", id=0x2000, lease=60, data=b"\7", preference=1) as publication:
            self.assertTrue(publication.registered)
            record, = await rai.list_services("mine")
            self.assertEqual((record.id, record.gid, record.lease), (0x2000, OWN, 60))
            self.assertEqual((record.data[0], record.data[15]), (7, 1))
        self.assertEqual(await rai.list_services("mine"), [])

    async def test_publication_is_entered_again_once_it_has_ended(self):
        publication = rai.publish("again", id=0x2004)
        for _ in range(2):
            async with publication:
                self.assertTrue(publication.registered)
                self.assertEqual(len(await rai.list_services("again")), 1)
                with self.assertRaises(RuntimeError):
                    await publication.__aenter__()

    async def test_changes_end_with_the_publication(self):
        async def follow():
            return [one async for one in publication.changes()]

        async with rai.publish("followed", id=0x2005) as publication:
            followers = [asyncio.ensure_future(follow()) for _ in range(2)]
            await asyncio.sleep(0)
        self.assertEqual(await asyncio.wait_for(asyncio.gather(*followers), 60), [[], []])

    async def test_changes_begun_before_the_publication_are_told_to_each_from_the_first_on(self):
        async def follow(changes):
            return [one.registered async for one in changes]

        publication = rai.publish("awaited", id=0x2006)
        followers = [asyncio.ensure_future(follow(publication.changes())) for _ in range(2)]
        await asyncio.sleep(0)
        async with publication:
            pass
        followers.append(asyncio.ensure_future(follow(publication.changes())))
        self.assertEqual(await asyncio.wait_for(asyncio.gather(*followers), 60), [[True], [True], []])

    async def test_publication_that_ends_while_it_is_entered_raises(self):
        publication = rai.publish("hasty", id=0x2007, patient=True, linger=0)
        entering = asyncio.ensure_future(publication.__aenter__())
        await asyncio.sleep(0)
        await publication.__aexit__(None, None, None)
        with self.assertRaises(rai.Error) as caught:
            await asyncio.wait_for(entering, 60)
        self.assertEqual(caught.exception.errno, errno.ECANCELED)

    async def test_publication_that_is_refused_raises_with_the_status(self):
        with self.assertRaises(rai.Error) as caught:
            async with rai.publish("foreign", id=0x2001, pkey=0x8123):
                self.fail("registered")
        self.assertEqual(caught.exception.errno, errno.EIO)
        self.assertIn("REQ_INVALID", caught.exception.strerror)

    async def test_patient_publication_tells_what_becomes_of_it(self):
        async with rai.publish("patient", id=0x2002, lease=12, port=OWN) as publication:
            changes = publication.changes()
            for _ in range(5):  # one that falls between its look and its renewal is mended unseen
                register("hca3", "-d", "-g", str(OWN), "-i", "0x2002")
                try:
                    lost = await asyncio.wait_for(changes.__anext__(), 10)
                    break
                except asyncio.TimeoutError:
                    changes = publication.changes()
            self.assertEqual((lost.registered, lost.errno), (False, errno.ENOENT))
            again = await asyncio.wait_for(changes.__anext__(), 30)
            self.assertTrue(again.registered)
            self.assertIn("registered again", again.text)
        async with rai.publish("elsewhere", id=0x2003, pkey=0x8123, patient=True) as publication:
            self.assertFalse(publication.registered)
            self.assertEqual(publication.outcome.errno, errno.EIO)


if __name__ == "__main__":
    unittest.main()
