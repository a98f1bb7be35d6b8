# SPDX-License-Identifier: BSD-2-Clause
"""The lists of the library as objects."""
from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from ctypes import POINTER, byref, string_at
from ipaddress import IPv6Address
from typing import Any, Optional

from . import _library as c
from ._channel import Id, check
from ._types import Address, Path, ServiceAddress, ServiceRecord

_PATH_DATA, _PATH_AT = 72, 8
_FOR_EVER = 0xFFFFFFFF
_QP_TYPES = {2: "RC", 3: "UC", 4: "UD", 9: "XRC", 10: "XRC"}
_PORT_SPACES = {2: "IPOIB", c.RDMA_PS_TCP: "TCP", c.RDMA_PS_UDP: "UDP", c.RDMA_PS_IB: "IB"}


def entries(one: Id) -> Iterator[Any]:
    """Each entry of the list that an id's resolution brought."""
    first = POINTER(c.AddrInfo)()
    check("fetching the results", c.lib.rdma_query_addrinfo(one.pointer, byref(first)))
    try:
        entry = first
        while entry:
            yield entry
            entry = entry.contents.ai_next
    finally:
        c.lib.rdma_freeaddrinfo(first)


def _sockaddr(pointer: Optional[int], length: int) -> tuple[int, str, int, int]:
    """Family, host, port, scope id."""
    raw = string_at(pointer, length) if pointer else b""
    family = int.from_bytes(raw[:2], sys.byteorder)
    if family == socket.AF_INET:
        return family, socket.inet_ntop(family, raw[4:8]), int.from_bytes(raw[2:4], "big"), 0
    if family == socket.AF_INET6:
        scope = int.from_bytes(raw[24:28], sys.byteorder)
        return family, socket.inet_ntop(family, raw[8:24]), int.from_bytes(raw[2:4], "big"), scope
    if family == c.AF_IB:
        return family, str(IPv6Address(raw[8:24])), int.from_bytes(raw[30:32], "big"), 0
    return family, "", 0, 0


def address(entry: Any, canonname: Optional[str], passive: bool) -> Address:
    info = entry.contents
    source = None
    if passive:
        family, host, port, scope = _sockaddr(info.ai_src_addr, info.ai_src_len)
    else:
        family, host, port, scope = _sockaddr(info.ai_dst_addr, info.ai_dst_len)
        source = _sockaddr(info.ai_src_addr, info.ai_src_len)[1] or None
    return Address(
        family, host, port, scope, source, _QP_TYPES.get(info.ai_qp_type, ""),
        _PORT_SPACES.get(info.ai_port_space, ""), canonname,
    )


def addresses(one: Id, passive: bool) -> list[Address]:
    canonname: Optional[str] = None
    results = []
    for entry in entries(one):
        name = entry.contents.ai_src_canonname if passive else entry.contents.ai_dst_canonname
        canonname = name.decode(errors="surrogateescape") if name else canonname
        results.append(address(entry, canonname, passive))
    return results


def record(entry: Any) -> ServiceRecord:
    raw = c.Record()
    check("reading a record", c.lib.rai_addrinfo_service(entry, byref(raw)))
    return ServiceRecord(
        raw.name.decode(errors="surrogateescape"), raw.id, IPv6Address(bytes(raw.gid)), raw.pkey,
        None if raw.lease_s == _FOR_EVER else raw.lease_s, bytes(raw.data),
    )


def _path(raw: bytes) -> Path:
    """A PathRecord as on the wire."""
    flow = int.from_bytes(raw[44:48], "big")
    mtu = raw[54] & 0x3F
    return Path(
        sgid=IPv6Address(raw[24:40]), dgid=IPv6Address(raw[8:24]), slid=int.from_bytes(raw[42:44], "big"),
        dlid=int.from_bytes(raw[40:42], "big"), sl=raw[53] & 0xF, pkey=int.from_bytes(raw[50:52], "big"),
        mtu=128 << mtu if 1 <= mtu <= 5 else 0, hop_limit=flow & 0xFF, traffic_class=raw[48],
        flow_label=flow >> 8 & 0xFFFFF,
    )


def _paths(info: Any) -> tuple[Path, ...]:
    raw = string_at(info.ai_route, info.ai_route_len) if info.ai_route else b""
    return tuple(_path(raw[at + _PATH_AT : at + _PATH_DATA]) for at in range(0, len(raw), _PATH_DATA))


def service_addresses(one: Id) -> list[ServiceAddress]:
    return [
        ServiceAddress(
            record(entry), IPv6Address(_sockaddr(entry.contents.ai_src_addr, entry.contents.ai_src_len)[1]),
            _paths(entry.contents),
        )
        for entry in entries(one)
    ]


def records(one: Id) -> list[ServiceRecord]:
    return [record(entry) for entry in entries(one)]
