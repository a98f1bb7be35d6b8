# SPDX-License-Identifier: BSD-2-Clause
"""Names and InfiniBand services resolved to RDMA addresses, for asyncio.

    import asyncio, rai

    async def main():
        for address in await rai.resolve("storage.example", 7471):
            print(address.host, address.port)
        for found in await rai.resolve_service("storage"):
            print(found.gid, hex(found.record.id))

    asyncio.run(main())

No call blocks the loop: the library's events come by a descriptor that the loop watches.
"""
from ._api import Publication, list_services, publish, remove_service, resolve, resolve_service, stats, version
from ._channel import Channel
from ._ports import Gid, Port, ports
from ._types import (
    Address,
    Error,
    NotFoundError,
    Outcome,
    Path,
    ResolveTimeoutError,
    ServiceAddress,
    ServiceRecord,
    Source,
    Stats,
)

__version__ = "0.9.0"

__all__ = [
    "Address",
    "Channel",
    "Error",
    "Gid",
    "NotFoundError",
    "Outcome",
    "Path",
    "Port",
    "Publication",
    "ResolveTimeoutError",
    "ServiceAddress",
    "ServiceRecord",
    "Source",
    "Stats",
    "list_services",
    "ports",
    "publish",
    "remove_service",
    "resolve",
    "resolve_service",
    "stats",
    "version",
]
