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

    Args:
        latest: gives the last snapshot, None before the first.
    """

    def __init__(self, latest: Callable[[], NodeSnapshot | None]) -> None:
        self._latest = latest
        self._snapshot: NodeSnapshot | None = None
        self._node = b""
        self._json: bytes | None = None

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
            self._node = answer.SerializeToString()
            self._json = None
            self._snapshot = snapshot
        if not include_snapshot_json:
            return self._node
        if self._json is None:
            self._json = pb.GetNodeResponse(snapshot_json=encode(snapshot)).SerializeToString()
        # Serialised messages one behind the other are their merge. Source: protobuf.dev/programming-guides/encoding,
        # "Last One Wins".
        return self._node + self._json
