# SPDX-License-Identifier: BSD-2-Clause
"""What comes out: addresses, service records, and why there are none."""
from __future__ import annotations

import errno as _errno
import ipaddress
import operator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Optional, Union


class Source(IntEnum):
    """Where names come from."""

    CONFIGURED = 0
    """As the host's nsswitch.conf says."""
    DNS = 1
    """The name servers only."""
    HOSTS = 2
    """The hosts file only."""


class Error(OSError):
    """A call or a resolution failed: ``errno``, and ``strerror`` with the step that failed and why, in words.

    ``code`` is the EAI code of a name, or the status of the subnet administrator's answer; 0 where there is none.
    """

    code: int

    def __init__(self, number: int, text: str, code: int = 0) -> None:
        super().__init__(number, text)
        self.code = code


class NotFoundError(Error):
    """No such host, no address of the family asked for, or no such service."""


class ResolveTimeoutError(Error, TimeoutError):
    """No answer before the deadline."""


def error_of(number: int, text: str, code: int = 0) -> Error:
    """The exception for an errno."""
    kinds = {
        _errno.ENOENT: NotFoundError,
        _errno.ENODATA: NotFoundError,
        _errno.ETIMEDOUT: ResolveTimeoutError,
    }
    return kinds.get(number, Error)(number, text, code)


def unsigned(what: str, value: int, bits: int) -> int:
    """The number, where it has no more bits: ctypes would take the lowest and say nothing."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is an int, not {type(value).__name__}: {value!r}") from None
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{what} is a number from 0 to {(1 << bits) - 1}: {value}")
    return value


@dataclass(frozen=True)
class Address:
    """One result of a name: an address with its port, for ``rdma_resolve_addr()``, or to bind to where it is passive."""

    family: int
    """``socket.AF_INET`` or ``AF_INET6``; 27, AF_IB, where a GID was asked for."""
    host: str
    port: int
    scope_id: int = 0
    source: Optional[str] = None
    """The local address that leads there, where the route says one."""
    qp_type: str = "RC"
    port_space: str = "TCP"
    canonname: Optional[str] = None

    @property
    def sockaddr(self) -> Union[tuple[str, int], tuple[str, int, int, int]]:
        """As ``socket.connect()`` and ``bind()`` take it."""
        return (self.host, self.port) if ":" not in self.host else (self.host, self.port, 0, self.scope_id)


@dataclass(frozen=True)
class Path:
    """A path record of the subnet administrator (IBTA 15.2.5.16)."""

    sgid: ipaddress.IPv6Address
    dgid: ipaddress.IPv6Address
    slid: int
    dlid: int
    sl: int
    pkey: int
    mtu: int
    """Bytes; 0: a number that has no meaning."""
    hop_limit: int
    traffic_class: int
    flow_label: int


@dataclass(frozen=True)
class ServiceRecord:
    """A service record as the subnet administrator has it (IBTA 15.2.5.14)."""

    name: str
    """Bytes that are no UTF-8 are surrogates, as in names of files."""
    id: int
    gid: ipaddress.IPv6Address
    pkey: int
    """0: none was registered."""
    lease: Optional[int]
    """Seconds that it was registered for; None: for ever."""
    data: bytes = field(default=bytes(64), repr=False)


@dataclass(frozen=True)
class ServiceAddress:
    """One result of a service: the record, and the paths that lead there, if there are any."""

    record: ServiceRecord
    source: ipaddress.IPv6Address
    """GID of the local port that it was found through."""
    paths: tuple[Path, ...] = ()

    @property
    def gid(self) -> ipaddress.IPv6Address:
        """Where the service is."""
        return self.record.gid


@dataclass(frozen=True)
class Outcome:
    """What became of a service that is published."""

    registered: bool
    errno: int
    """0 where it is registered."""
    text: str


@dataclass(frozen=True)
class Stats:
    """Counters since the process started; the last three are levels. See rai_get_stats(3)."""

    started: int
    resolved: int
    failed: int
    cancelled: int
    kept_hits: int
    shared: int
    lookups: int
    timeouts: int
    sa_queries: int
    sa_retries: int
    outstanding: int
    in_flight: int
    kept: int
