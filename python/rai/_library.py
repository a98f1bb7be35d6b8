# SPDX-License-Identifier: BSD-2-Clause
"""The C library, as ctypes has it: its structs, and its functions with their types."""
from __future__ import annotations

import ctypes
import os
import sysconfig
from ctypes import POINTER, Structure, Union, c_char, c_char_p, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64
from ctypes import c_void_p
from typing import Any

AF_IB = 27
O_NONBLOCK = os.O_NONBLOCK

RDMA_PS_TCP = 0x0106
RDMA_PS_UDP = 0x0111
RDMA_PS_IB = 0x013F

RAI_PASSIVE, RAI_NUMERICHOST, RAI_NOROUTE, RAI_FAMILY, RAI_SA = 1, 2, 4, 8, 16

EVENT_ADDRINFO_RESOLVED = 16
EVENT_ADDRINFO_ERROR = 17
EVENT_SERVICE = 64

OPTION_LEVEL = 0x524149
OPTION_DEADLINE_MS, OPTION_FRESH, OPTION_SOURCE, OPTION_SERVICE_GIDS, OPTION_SERVICE_FULL = 1, 2, 3, 4, 5


class EventChannel(Structure):
    _fields_ = [("fd", c_int)]


class CmId(Structure):
    """Its first fields: what follows is the library's to lay out."""

    _fields_ = [("verbs", c_void_p), ("channel", c_void_p), ("context", c_void_p)]


class EventParam(Union):
    # The largest member is struct rdma_ud_param, whose size doesn't matter: events are the library's.
    _fields_ = [("arg", c_uint64)]


class CmEvent(Structure):
    _fields_ = [("id", c_void_p), ("listen_id", c_void_p), ("event", c_int), ("status", c_int), ("param", EventParam)]


class AddrInfo(Structure):
    pass


AddrInfo._fields_ = [
    ("ai_flags", c_int),
    ("ai_family", c_int),
    ("ai_qp_type", c_int),
    ("ai_port_space", c_int),
    ("ai_src_len", c_uint32),
    ("ai_dst_len", c_uint32),
    ("ai_src_addr", c_void_p),
    ("ai_dst_addr", c_void_p),
    ("ai_src_canonname", c_char_p),
    ("ai_dst_canonname", c_char_p),
    ("ai_route_len", c_size_t),
    ("ai_route", c_void_p),
    ("ai_connect_len", c_size_t),
    ("ai_connect", c_void_p),
    ("ai_next", POINTER(AddrInfo)),
]


class Service(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("id", c_uint64),
        ("pkey", c_uint16),
        ("reserved16", c_uint16),
        ("lease_s", c_uint32),
        ("data", c_uint8 * 64),
        ("reserved", c_uint64 * 4),
    ]


class Record(Structure):
    _fields_ = [
        ("id", c_uint64),
        ("gid", c_uint8 * 16),
        ("pkey", c_uint16),
        ("reserved16", c_uint16),
        ("lease_s", c_uint32),
        ("name", c_char * 72),
        ("data", c_uint8 * 64),
        ("reserved", c_uint64 * 4),
    ]


class Filter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("id", c_uint64),
        ("gid", c_uint8 * 16),
        ("pkey", c_uint16),
        ("reserved16", c_uint16 * 3),
        ("reserved", c_uint64 * 4),
    ]


class Stats(Structure):
    _fields_ = [
        (name, c_uint64)
        for name in (
            "started", "resolved", "failed", "cancelled", "kept_hits", "shared", "lookups", "timeouts", "sa_queries",
            "sa_retries", "outstanding", "in_flight", "kept",
        )
    ]


class SockaddrIb(Structure):
    """Numbers are in network order here."""

    _fields_ = [
        ("sib_family", c_uint16),
        ("sib_pkey", c_uint8 * 2),
        ("sib_flowinfo", c_uint8 * 4),
        ("sib_addr", c_uint8 * 16),
        ("sib_sid", c_uint8 * 8),
        ("sib_sid_mask", c_uint8 * 8),
        ("sib_scope_id", c_uint64),
    ]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rdma_create_event_channel": (POINTER(EventChannel), []),
    "rdma_destroy_event_channel": (None, [POINTER(EventChannel)]),
    "rdma_create_id": (c_int, [POINTER(EventChannel), POINTER(c_void_p), c_void_p, c_int]),
    "rdma_destroy_id": (c_int, [c_void_p]),
    "rdma_bind_addr": (c_int, [c_void_p, c_void_p]),
    "rdma_set_option": (c_int, [c_void_p, c_int, c_int, c_void_p, c_size_t]),
    "rdma_get_cm_event": (c_int, [POINTER(EventChannel), POINTER(POINTER(CmEvent))]),
    "rdma_ack_cm_event": (c_int, [POINTER(CmEvent)]),
    "rdma_event_str": (c_char_p, [c_int]),
    "rdma_resolve_addrinfo": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(AddrInfo)]),
    "rdma_query_addrinfo": (c_int, [c_void_p, POINTER(POINTER(AddrInfo))]),
    "rdma_freeaddrinfo": (None, [POINTER(AddrInfo)]),
    "rai_addrinfo_service": (c_int, [POINTER(AddrInfo), POINTER(Record)]),
    "rai_event_text": (c_int, [POINTER(CmEvent), c_char_p, c_size_t]),
    "rai_get_stats": (c_int, [POINTER(Stats), c_size_t]),
    "rai_service_list": (c_int, [c_void_p, POINTER(Filter)]),
    "rai_service_register": (c_int, [c_void_p, POINTER(Service), POINTER(c_uint64)]),
    "rai_service_remove": (c_int, [c_void_p, POINTER(Record)]),
    "rai_service_unregister": (c_int, [c_void_p, c_uint64]),
    "rai_version": (c_char_p, []),
}


def _candidates() -> list[str]:
    """Where it may be: as the user says, as the loader finds it, beside the system's in a folder of its own."""
    own = os.environ.get("RAI_LIBRARY")
    if own:
        return [own]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    folders = [f"/usr/lib/{multiarch}/rai"] if multiarch else []
    return ["librdmacm.so.1"] + [f"{folder}/librdmacm.so.1" for folder in folders + ["/usr/lib64/rai", "/usr/lib/rai"]]


def _load() -> Any:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path, use_errno=True)
        except OSError as error:
            tried.append(str(error))
            continue
        if hasattr(library, "rai_service_list"):
            return library
        tried.append(f"{path}: another librdmacm, without rai_service_list()")
    raise ImportError(
        "rai finds no librdmacm of its own: RAI_LIBRARY says where it is, or 'rai run python3 ...' gives it ("
        + "; ".join(tried)
        + ")"
    )


lib: Any = _load()
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments
