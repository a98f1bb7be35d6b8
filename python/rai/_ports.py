# SPDX-License-Identifier: BSD-2-Clause
"""The InfiniBand ports of this host, as /sys has them, and GIDs as people write them."""
from __future__ import annotations

import errno
import ipaddress
import os
from dataclasses import dataclass
from typing import Optional, Union

from ._types import Error

Gid = Union[str, bytes, ipaddress.IPv6Address]
"""``"fe80::1"``, 16 bytes, or an address of ``ipaddress``."""

_SYS = "/sys/class/infiniband"


@dataclass(frozen=True)
class Port:
    """An InfiniBand port of this host."""

    name: str
    """``mlx5_0/1``"""
    gid: ipaddress.IPv6Address
    active: bool


def read_gid(gid: Gid) -> ipaddress.IPv6Address:
    """ValueError: it is none."""
    if not isinstance(gid, (str, bytes, ipaddress.IPv6Address)):
        raise TypeError(f"a GID is a str or an IPv6Address, not {type(gid).__name__}: {gid!r}")
    return gid if isinstance(gid, ipaddress.IPv6Address) else ipaddress.IPv6Address(gid)


def _read(path: str) -> Optional[str]:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _port(device: str, number: str) -> Optional[Port]:
    folder = f"{_SYS}/{device}/ports/{number}"
    gid = _read(f"{folder}/gids/0")
    # Drivers that know one link layer only leave the file out or empty.
    if not gid or (_read(f"{folder}/link_layer") or "InfiniBand") not in ("InfiniBand", "IB"):
        return None
    state = _read(f"{folder}/state") or ""
    return Port(f"{device}/{number}", read_gid(gid), state.startswith("4"))


def ports() -> list[Port]:
    """The InfiniBand ports of this host, active or not; nothing is sent."""
    found = (_port(device, number) for device in _names(_SYS) for number in _names(f"{_SYS}/{device}/ports"))
    return [port for port in found if port]


def choose(port: Optional[Gid]) -> list[ipaddress.IPv6Address]:
    """GIDs of the ports to ask through: the one that is named, by ``DEVICE/PORT`` or its GID, or all that are active."""
    if port is None:
        gids = [found.gid for found in ports() if found.active]
        if not gids:
            raise Error(errno.ENODEV, "this host has no active InfiniBand port")
        return gids
    if isinstance(port, str) and "/" in port:
        device, _, number = port.partition("/")
        named = _port(device, number)
        if not named:
            raise Error(errno.ENODEV, f"{port}: no such InfiniBand port")
        return [named.gid]
    try:
        return [read_gid(port)]
    except ValueError:
        raise ValueError(f"port is neither DEVICE/PORT nor a GID: {port!r}") from None
