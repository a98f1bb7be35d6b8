# SPDX-License-Identifier: BSD-2-Clause
"""Names, services, and what is published, as coroutines."""
from __future__ import annotations

import asyncio
import ctypes
import errno
import re
import socket
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from ctypes import byref, c_uint64
from ipaddress import IPv6Address
from typing import Any, Optional, TypeVar, Union

from . import _library as c
from . import _results
from ._channel import Channel, Event, Id, check, shared
from ._ports import Gid, choose, read_gid
from ._types import Address, Error, NotFoundError, Outcome, ServiceAddress, ServiceRecord, Source, Stats, error_of
from ._types import unsigned

T = TypeVar("T")

_GONE_PAUSE = 0.05
_LEASE_MAX = 86400
_NUMBER = re.compile("0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")


def version() -> str:
    """Version of the C library that is in use."""
    text: bytes = c.lib.rai_version()
    return text.decode()


def stats() -> Stats:
    """The library's counters."""
    raw = c.Stats()
    check("counting", c.lib.rai_get_stats(byref(raw), ctypes.sizeof(raw)))
    return Stats(*(getattr(raw, name) for name, *_ in c.Stats._fields_))


def _encode(what: str, text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}: {text!r}")
    raw = text.encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        raise ValueError(f"{what} has a NUL in it: {text!r}")
    return raw


def _service(service: Union[str, int], bits: int) -> bytes:
    if not isinstance(service, str) and hasattr(service, "__index__"):
        service = str(unsigned("service", service, bits))
    return _encode("service", service)


# ---- Names ----


async def resolve(
    node: Optional[str],
    service: Union[str, int, None] = None,
    *,
    family: int = socket.AF_UNSPEC,
    passive: bool = False,
    numeric: bool = False,
    datagram: bool = False,
    source: Source = Source.CONFIGURED,
    fresh: bool = False,
    timeout: Optional[float] = None,
    channel: Optional[Channel] = None,
) -> list[Address]:
    """The addresses of a host, the best first, as rdma_resolve_addrinfo(3) has them.

    node: a host name or address; None: this host. service: a name of services(5) or a port. passive: to listen at.
    numeric: node is an address, and nobody is asked. datagram: for UD queue pairs. fresh: not from what was kept.
    timeout: seconds; None: as resolv.conf says; ``float("inf")``: for ever.

    Raises NotFoundError, ResolveTimeoutError (a TimeoutError), or another Error. A task that is cancelled gives the
    resolution up.
    """
    if node is None and service is None:
        raise ValueError("node and service are both None")
    hints = c.AddrInfo(ai_family=family, ai_port_space=c.RDMA_PS_UDP if datagram else c.RDMA_PS_TCP)
    hints.ai_flags = (c.RAI_PASSIVE if passive else 0) | (c.RAI_NUMERICHOST if numeric else 0)
    hints.ai_flags |= c.RAI_FAMILY if family else 0
    name = None if node is None else _encode("node", node)
    port = None if service is None else _service(service, 16)

    def start(one: Id) -> None:
        one.set_timeout(timeout)
        one.set_names(source, fresh)
        check("starting the resolution", c.lib.rdma_resolve_addrinfo(one.pointer, name, port, byref(hints)))

    def finish(one: Id, _: Event) -> list[Address]:
        return _results.addresses(one, passive)

    found: list[Address] = await (channel or shared()).outcome(start, hints.ai_port_space, finish)
    return found


# ---- Services of the subnet administrator ----

# Of several ports' failures the one to raise: first what leaves open whether there is such a service.
_TELLING = (errno.EBUSY, errno.ETIMEDOUT, errno.EIO, errno.ENOMEM, errno.ENOENT)


def _rank(error: Error) -> int:
    return _TELLING.index(error.errno) if error.errno in _TELLING else len(_TELLING)


async def _through(
    gids: list[IPv6Address], ask: Callable[[IPv6Address], Coroutine[Any, Any, list[T]]], key: Callable[[T], Any]
) -> list[T]:
    """All results of all ports, each once; where no port has any, the failure that tells most."""
    tasks = [asyncio.ensure_future(ask(gid)) for gid in gids]
    try:
        answers = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    merged: dict[Any, T] = {}
    failures: list[Error] = []
    for answer in answers:
        if isinstance(answer, Error):
            failures.append(answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            for result in answer:
                merged.setdefault(key(result), result)
    if failures and not merged:
        raise min(failures, key=_rank)
    return list(merged.values())


def _identity(record: ServiceRecord) -> tuple[int, IPv6Address, int]:
    return record.id, record.gid, record.pkey


async def resolve_service(
    service: Union[str, int],
    *,
    port: Optional[Gid] = None,
    paths: bool = True,
    gids: Iterable[Gid] = (),
    full_members: bool = False,
    fresh: bool = False,
    timeout: Optional[float] = None,
    channel: Optional[Channel] = None,
) -> list[ServiceAddress]:
    """Where a service of the InfiniBand subnet is, by its name or its id, the best first for each port.

    port: ``"mlx5_0/1"`` or a GID, through which the subnet administrator is asked; None: all that are active.
    paths: whether path records are wanted. gids, full_members: which records are accepted, see rdma_set_option(3).
    """
    accepted = tuple(read_gid(gid) for gid in gids)
    name = _service(service, 64)
    hints = c.AddrInfo(ai_flags=c.RAI_SA | (0 if paths else c.RAI_NOROUTE))

    async def ask(gid: IPv6Address) -> list[ServiceAddress]:
        def start(one: Id) -> None:
            one.bind(gid)
            one.set_timeout(timeout)
            one.set_names(Source.CONFIGURED, fresh)
            one.set_accepted(accepted, full_members)
            check("starting the resolution", c.lib.rdma_resolve_addrinfo(one.pointer, None, name, byref(hints)))

        def finish(one: Id, _: Event) -> list[ServiceAddress]:
            return _results.service_addresses(one)

        found: list[ServiceAddress] = await (channel or shared()).outcome(start, c.RDMA_PS_IB, finish)
        return found

    return await _through(choose(port), ask, lambda found: _identity(found.record))


def _filter(name: Optional[str], service_id: Optional[int], gid: Optional[Gid], pkey: Optional[int]) -> Any:
    wanted = c.Filter(id=unsigned("id", service_id or 0, 64), pkey=unsigned("pkey", pkey or 0, 16))
    if name is not None:
        wanted.name = _encode("name", name)
    if gid is not None:
        wanted.gid[:] = read_gid(gid).packed
    return wanted


async def list_services(
    name: Optional[str] = None,
    *,
    id: Optional[int] = None,
    gid: Optional[Gid] = None,
    pkey: Optional[int] = None,
    port: Optional[Gid] = None,
    timeout: Optional[float] = None,
    channel: Optional[Channel] = None,
) -> list[ServiceRecord]:
    """The service records of the subnet that agree with all that is given; an empty list where none does."""
    wanted = _filter(name, id, gid, pkey)

    async def ask(through: IPv6Address) -> list[ServiceRecord]:
        def start(one: Id) -> None:
            one.bind(through)
            one.set_timeout(timeout)
            check("asking for the records", c.lib.rai_service_list(one.pointer, byref(wanted)))

        def finish(one: Id, _: Event) -> list[ServiceRecord]:
            return _results.records(one)

        try:
            found: list[ServiceRecord] = await (channel or shared()).outcome(start, c.RDMA_PS_IB, finish)
        except NotFoundError:
            return []
        return found

    return await _through(choose(port), ask, _identity)


async def remove_service(
    record: ServiceRecord,
    *,
    port: Optional[Gid] = None,
    timeout: Optional[float] = None,
    channel: Optional[Channel] = None,
) -> None:
    """Removes a record from the subnet administrator, whosever it is, where that lets this host: NotFoundError: there
    is none. A publisher that still runs sets its record again."""
    raw = c.Record(id=unsigned("id", record.id, 64), pkey=unsigned("pkey", record.pkey, 16))
    raw.gid[:] = record.gid.packed

    def start(one: Id) -> None:
        one.bind(choose(port)[0])
        one.set_timeout(timeout)
        check("removing the record", c.lib.rai_service_remove(one.pointer, byref(raw)))

    await (channel or shared()).outcome(start, c.RDMA_PS_IB, lambda one, event: None)


# ---- Publishing ----


class Publication:
    """A service that is published at the subnet administrator, and kept there, within an ``async with``.

    It is entered once the record is registered, or, with ``patient``, whatever the first outcome was; else that is
    raised. ``changes()`` tells what becomes of the record later. At its end the record is deleted, which is waited for
    up to ``linger`` seconds.
    """

    def __init__(
        self,
        name: Optional[str],
        *,
        port: Optional[Gid] = None,
        id: int = 0,
        pkey: int = 0,
        lease: int = 0,
        data: bytes = b"",
        preference: int = 0,
        patient: bool = False,
        linger: float = 2.0,
        channel: Optional[Channel] = None,
    ) -> None:
        data = bytes(memoryview(data))
        if len(data) > 64 or (preference and len(data) > 15 and data[15]):
            raise ValueError("data has 64 bytes at most, of which the 16th is the preference")
        if unsigned("lease", lease, 32) > _LEASE_MAX:
            raise ValueError(f"lease is {_LEASE_MAX} seconds at most: {lease}")
        if name is None and not id:
            raise ValueError("a service has a name or an id")
        self._name = None if name is None else _encode("name", name)
        if name is not None and (not name or _NUMBER.fullmatch(name)):
            raise ValueError(f"name is empty or a number, which clients would take for a service id: {name!r}")
        self._service = c.Service(
            name=self._name, id=unsigned("id", id, 64), pkey=unsigned("pkey", pkey, 16), lease_s=lease
        )
        self._service.data[: len(data)] = data
        if preference:
            self._service.data[15] = unsigned("preference", preference, 8)
        self._gid = self._choose(port)
        self._patient, self._linger, self._channel = patient, linger, channel
        self._one: Optional[Id] = None
        self._registration = c_uint64()
        self._followers: weakref.WeakSet[asyncio.Queue[Optional[Outcome]]] = weakref.WeakSet()
        self._latest: Optional[Outcome] = None
        self._ended = False

    @staticmethod
    def _choose(port: Optional[Gid]) -> IPv6Address:
        gids = choose(port)
        if len(gids) > 1:
            raise ValueError("this host has several active InfiniBand ports: port says which one offers the service")
        return gids[0]

    @property
    def outcome(self) -> Optional[Outcome]:
        """The latest; None before the first."""
        return self._latest

    @property
    def registered(self) -> bool:
        """Whether the subnet administrator has the record, for all that is known."""
        return self._latest is not None and self._latest.registered

    @property
    def gid(self) -> IPv6Address:
        """Of the port that offers the service."""
        return self._gid

    def _told(self, event: Event) -> None:
        self._latest = Outcome(event.status == 0, -event.status, event.text)
        self._tell(self._latest)

    def _tell(self, outcome: Optional[Outcome]) -> None:
        for follower in list(self._followers):
            follower.put_nowait(outcome)

    def _follow(self) -> asyncio.Queue[Optional[Outcome]]:
        follower: asyncio.Queue[Optional[Outcome]] = asyncio.Queue()
        self._followers.add(follower)
        return follower

    def changes(self) -> AsyncIterator[Outcome]:
        """Each outcome from now on, also from before it is entered, until the publication ends."""
        outcomes = self._follow()
        if self._ended:
            outcomes.put_nowait(None)

        async def each() -> AsyncIterator[Outcome]:
            while (one := await outcomes.get()) is not None:
                yield one

        return each()

    async def __aenter__(self) -> Publication:
        if self._one:
            raise RuntimeError("the publication is entered already")
        outcomes, self._latest, self._ended = self._follow(), None, False
        self._one = (self._channel or shared()).id(c.RDMA_PS_IB, self._told)
        try:
            self._one.bind(self._gid)
            check(
                "publishing",
                c.lib.rai_service_register(self._one.pointer, byref(self._service), byref(self._registration)),
            )
            first = await outcomes.get()
            if first is None:
                raise error_of(errno.ECANCELED, "the publication ended before it was registered")
            if not first.registered and not self._patient:
                raise error_of(first.errno, first.text)
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()
        await self._gone()

    def _end(self) -> None:
        if self._one:
            self._one.close()
            self._one = None
            self._ended = True
            self._tell(None)

    async def _gone(self) -> None:
        """The record is deleted in the background, and not at all once the process has ended."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._linger
        name = None if self._name is None else self._name.decode("utf-8", "surrogateescape")
        number = self._service.id or None
        try:
            while (left := until - loop.time()) > 0:
                if not await list_services(
                    name, id=number, gid=self._gid, port=self._gid, timeout=left, channel=self._channel
                ):
                    return
                await asyncio.sleep(_GONE_PAUSE)
        except Error:
            return


publish = Publication
"""``async with rai.publish("storage", id=0x1000000000001, port="mlx5_0/1") as publication:``"""
