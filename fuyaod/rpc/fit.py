"""A snapshot whose numbers fit the fields of the API. Pure.

Files of the host and manifests of pods may hold any number of digits; one absurd number must not cost everybody the
answer about all the rest.
"""

from __future__ import annotations

from typing import Final, TypeVar, cast

import msgspec

T = TypeVar("T")

UINT64: Final = (0, (1 << 64) - 1)
INT64: Final = (-1 << 63, (1 << 63) - 1)
UINT32: Final = (0, (1 << 32) - 1)
INT32: Final = (-1 << 31, (1 << 31) - 1)

_NARROW: Final = {
    INT32: "package_id die_id cluster_id core_id numa_node cache_id priority",
    UINT32: "schema cpu level node distances vendor_id device_id class_id link_width max_link_width speed_mbps mtu "
    "kept_descriptors unreadable_more left_out processes threads in_pods open_descriptors descriptor_limit",
    INT64: "at_ns observed_at_ns since_ns slow_at_ns boot_time_s pid cpu_milli memory_bytes devices",
}
_RANGES: Final = {name: bounds for bounds, names in _NARROW.items() for name in names.split()}
"""Numbers by the name of their field in the model; all others are unsigned 64-bit ones. Source: node.proto."""


def fitted(value: T, name: str = "") -> T:
    """The same value with every number cut to the nearest that its field in the API can hold.

    Args:
        value: any value of the model.
        name: the field it stands in.
    """
    match value:
        case int() if not isinstance(value, bool):
            low, high = _RANGES.get(name, UINT64)
            return cast("T", min(max(int(value), low), high))
        case msgspec.Struct():
            fields = {field: fitted(getattr(value, field), field) for field in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        case tuple():
            return type(value)(fitted(one, name) for one in value)
        case dict():
            return type(value)((key, fitted(one, name)) for key, one in value.items())
        case _:
            return value
