"""Answers of the node API, made once per snapshot however many ask."""

from __future__ import annotations

from collections.abc import Callable

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod import __version__
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import encode
from fuyaod.rpc.convert import node_message


class NodeAnswers:
    """Serialised answers over the last snapshot; nothing is done while nobody asks.

    The message is kept, the JSON is not: it is twice as large, made five times as fast, and only tools ask for it.

    Args:
        latest: gives the last snapshot, None before the first.
    """

    def __init__(self, latest: Callable[[], NodeSnapshot | None]) -> None:
        self._latest = latest
        self._snapshot: NodeSnapshot | None = None
        self._answer = b""

    @property
    def has_snapshot(self) -> bool:
        """Whether there is anything to answer from."""
        return self._latest() is not None

    def get_node(self, *, include_snapshot_json: bool) -> bytes | None:
        """A serialised `GetNodeResponse`, None before the first snapshot.

        Raises:
            ValueError: the snapshot holds a value that the API cannot carry.
        """
        snapshot = self._latest()
        if snapshot is None:
            return None
        if snapshot is not self._snapshot:
            answer = pb.GetNodeResponse(node=node_message(snapshot), agent_version=__version__)
            self._answer, self._snapshot = answer.SerializeToString(), snapshot
        if not include_snapshot_json:
            return self._answer
        text = encode(snapshot)
        return b"".join((self._answer, _bytes_header(pb.GetNodeResponse.SNAPSHOT_JSON_FIELD_NUMBER, len(text)), text))


def _bytes_header(field_number: int, length: int) -> bytes:
    """What stands before the content of a field of bytes: appended to a serialised message, both set that field.

    Source: protobuf.dev/programming-guides/encoding (wire type 2, base 128 varints).
    """
    header = bytearray()
    for number in (field_number << 3 | 2, length):
        while number > 0x7F:
            header.append(number & 0x7F | 0x80)
            number >>= 7
        header.append(number)
    return bytes(header)
