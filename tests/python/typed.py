# SPDX-License-Identifier: BSD-2-Clause
"""A program as a user's type checker sees it; it is never run."""
from __future__ import annotations

import ipaddress

import rai


async def program() -> int:
    addresses: list[rai.Address] = await rai.resolve("a", 1, timeout=1.5, source=rai.Source.DNS)
    services: list[rai.ServiceAddress] = await rai.resolve_service("a", port="mlx5_0/1", gids=["fe80::1"])
    records: list[rai.ServiceRecord] = await rai.list_services(gid=ipaddress.IPv6Address("fe80::1"))
    async with rai.Channel() as channel, rai.publish("a", id=1, channel=channel) as publication:
        async for outcome in publication.changes():
            if outcome.registered:
                break
    try:
        await rai.remove_service(records[0])
    except rai.NotFoundError as error:
        return error.code
    lease: int | None = services[0].record.lease
    return len(addresses[0].host) + (lease or 0)
