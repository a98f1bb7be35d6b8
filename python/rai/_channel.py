# SPDX-License-Identifier: BSD-2-Clause
"""An event channel of the library on a loop of asyncio, and the ids on it."""
from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import os
import weakref
from ctypes import POINTER, byref, c_uint32, c_void_p
from dataclasses import dataclass
from ipaddress import IPv6Address
from numbers import Real
from typing import Any, Callable, Optional

from . import _library as c
from ._types import Error, Source, error_of

_TEXT = 256
_FOREVER_MS = 0


@dataclass(frozen=True)
class Event:
    """An event, whose C struct was acknowledged already."""

    kind: int
    status: int
    arg: int
    text: str


def refuse(step: str) -> Error:
    """What a call of the library failed with."""
    number = ctypes.get_errno()
    why = {
        errno.ENODEV: "no RDMA device here (RAI_DEVICELESS=1 in the environment lets names resolve without)",
        errno.EACCES: "this process may not use the umad device",
    }.get(number, os.strerror(number))
    return error_of(number, f"{step}: {why}")


def check(step: str, result: int) -> None:
    if result:
        raise refuse(step)


class Id:
    """An ``rdma_cm_id``: a context manager that destroys it, with whatever is under way on it."""

    def __init__(self, channel: Channel, port_space: int, handler: Callable[[Event], None]) -> None:
        self.channel = channel
        self.handler = handler
        self.pointer = c_void_p()
        check("making an id", c.lib.rdma_create_id(channel.pointer, byref(self.pointer), None, port_space))
        channel.ids[self.pointer.value or 0] = self
        channel.raw.pointers.add(self.pointer.value or 0)

    def __enter__(self) -> Id:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.pointer:
            self.channel.ids.pop(self.pointer.value or 0, None)
            self.channel.raw.destroy_id(self.pointer.value or 0)
            self.pointer = c_void_p()

    def bind(self, gid: IPv6Address) -> None:
        address = c.SockaddrIb(sib_family=c.AF_IB)
        address.sib_addr[:] = gid.packed
        check("binding to the port", c.lib.rdma_bind_addr(self.pointer, byref(address)))

    def set_option(self, option: int, value: Any, size: int) -> None:
        result = c.lib.rdma_set_option(self.pointer, c.OPTION_LEVEL, option, value, size)
        check("setting an option", result)

    def set_number(self, option: int, number: int) -> None:
        self.set_option(option, byref(c_uint32(number)), 4)

    def set_timeout(self, timeout: Optional[float]) -> None:
        """Seconds, of which a millisecond is the least; None: as the library is set up; infinite: none."""
        if timeout is None:
            return
        if not isinstance(timeout, Real):
            raise TypeError(f"timeout is a number of seconds, not {type(timeout).__name__}: {timeout!r}")
        if timeout != timeout:
            raise ValueError("timeout is a number of seconds, not NaN")
        ms = _FOREVER_MS if timeout == float("inf") else round(max(1, min(timeout * 1000, 0xFFFFFFFE)))
        self.set_number(c.OPTION_DEADLINE_MS, ms)

    def set_names(self, source: Source, fresh: bool) -> None:
        if source != Source.CONFIGURED:
            self.set_number(c.OPTION_SOURCE, source)
        if fresh:
            self.set_number(c.OPTION_FRESH, 1)

    def set_accepted(self, gids: tuple[IPv6Address, ...], full_members: bool) -> None:
        if gids:
            packed = b"".join(gid.packed for gid in gids)
            self.set_option(c.OPTION_SERVICE_GIDS, packed, len(packed))
        if full_members:
            self.set_number(c.OPTION_SERVICE_FULL, 1)


class _Raw:
    """What the library has of a channel. It outlives the Channel, whose objects a garbage collection takes in any order."""

    def __init__(self) -> None:
        self.pointer = c.lib.rdma_create_event_channel()
        if not self.pointer:
            raise refuse("opening an event channel")
        self.descriptor: int = self.pointer.contents.fd
        self.pointers: set[int] = set()
        self.loop = weakref.ref(asyncio.get_running_loop())
        self.process = os.getpid()

    def destroy_id(self, pointer: int) -> None:
        if pointer in self.pointers:
            self.pointers.remove(pointer)
            c.lib.rdma_destroy_id(pointer)

    def destroy(self) -> None:
        """Takes the descriptor from its loop before it is closed: its number is another's the moment after."""
        home = self.loop()
        # The child of a fork has its parent's epoll, in which this is the parent's registration.
        if home and not home.is_closed() and os.getpid() == self.process:
            home.remove_reader(self.descriptor)
        for one in list(self.pointers):
            self.destroy_id(one)
        c.lib.rdma_destroy_event_channel(self.pointer)

    def drop(self) -> None:
        """The same on any thread: that of a garbage collection is whichever came to it."""
        home = self.loop()
        if home and home is not asyncio._get_running_loop() and os.getpid() == self.process:
            try:
                home.call_soon_threadsafe(self.destroy)
                return
            except RuntimeError:  # it is closed
                pass
        self.destroy()


def _read(channel: weakref.ref[Channel]) -> None:
    owner = channel()
    if owner:
        owner.drain()


class Channel:
    """An event channel, read by the running loop through its descriptor.

    Most programs need none of their own: the functions of this package share one for each loop. It is a context
    manager, in an ``async with`` too.
    """

    def __init__(self) -> None:
        self.ids: dict[int, Id] = {}
        self.raw = _Raw()
        self.pointer = self.raw.pointer
        self._destroy = weakref.finalize(self, self.raw.drop)
        self._destroy.atexit = False
        descriptor = self.raw.descriptor
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | c.O_NONBLOCK)
        asyncio.get_running_loop().add_reader(descriptor, _read, weakref.ref(self))

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return not self._destroy.alive

    def close(self) -> None:
        """What is under way on it ends with ECANCELED."""
        if self.closed:
            return
        self._destroy.detach()
        gone = Event(c.EVENT_ADDRINFO_ERROR, -errno.ECANCELED, 0, "the channel was closed")
        interrupted = list(self.ids.values())
        for one in interrupted:
            one.close()
        self.raw.destroy()
        home = self.raw.loop()
        if home and not home.is_closed():  # else nobody is left to be told
            for one in interrupted:
                one.handler(gone)

    def drain(self) -> None:
        """Takes all events that are due, and hands each to its id."""
        event = POINTER(c.CmEvent)()
        text = ctypes.create_string_buffer(_TEXT)
        while not self.closed and c.lib.rdma_get_cm_event(self.pointer, byref(event)) == 0:
            said = event.contents
            one = self.ids.get(said.id or 0)
            length = c.lib.rai_event_text(event, text, _TEXT) if one else -1
            words = text.value.decode(errors="replace") if length > 0 else ""
            taken = Event(said.event, said.status, said.param.arg, words)
            c.lib.rdma_ack_cm_event(event)
            if one:
                one.handler(taken)

    def id(self, port_space: int, handler: Callable[[Event], None]) -> Id:
        if self.closed:
            raise Error(errno.EBADF, "the channel is closed")
        if self.raw.loop() is not asyncio.get_running_loop():
            raise RuntimeError("the channel belongs to another loop")
        return Id(self, port_space, handler)

    async def outcome(self, start: Callable[[Id], None], port_space: int, finish: Callable[[Id, Event], Any]) -> Any:
        """Starts something that ends in one event, and what finish makes of that. Cancelled, nothing of it is left."""
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()

        def handler(event: Event) -> None:
            if not future.done() and event.kind in (
                c.EVENT_ADDRINFO_RESOLVED, c.EVENT_ADDRINFO_ERROR, c.EVENT_SERVICE
            ):
                future.set_result(event)

        with self.id(port_space, handler) as one:
            start(one)
            event = await future
            if event.status:
                code = event.arg if event.arg < 1 << 63 else event.arg - (1 << 64)
                raise error_of(-event.status, event.text, code)
            return finish(one, event)


_shared: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[Channel]] = weakref.WeakKeyDictionary()


def _hold(channel: Channel) -> None:
    channel.drain()


def shared() -> Channel:
    """That of the running loop; it goes with the loop."""
    loop = asyncio.get_running_loop()
    known = _shared.get(loop)
    channel = known() if known else None
    if channel is None or channel.closed:
        channel = Channel()
        # The loop alone holds it: what is under way has the loop, which a table of loops would keep for ever.
        loop.add_reader(channel.raw.descriptor, _hold, channel)
        _shared[loop] = weakref.ref(channel)
    return channel
