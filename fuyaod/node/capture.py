"""`capture` and `replay`: a bug from the field as one file, and the same decisions again on a laptop.

A capture holds what the host answered (`Tape`), what the Kubernetes source knew, the settings, and the snapshot that
came of
it. The snapshot is made from the recording after personal details were taken out, so a replay by the same version
gives the
same snapshot to the byte.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from fuyaod import __version__
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.record import CapturedFiles, RecordingFiles, Tape
from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.pods import PodSource, SourceKind, SourceReport
from fuyaod.model.settings import Kubernetes, Node, Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import Value, decode, encode, to_builtins
from fuyaod.node.observe import NodeObserver
from fuyaod.node.redact import NODE_NAME, clean_report, clean_tape

CAPTURE_SCHEMA: Final = 1
MAX_CAPTURE_BYTES: Final = 128 << 20
"""A capture that unpacks to more is refused: twice the largest tape."""

_REPLAY_ROOT: Final = "/captured"


class Capture(Value, frozen=True, kw_only=True):
    """Everything a replay needs."""

    schema: int = CAPTURE_SCHEMA
    version: str
    at_ns: int
    wall_s: float
    settings: Settings
    reports: tuple[SourceReport, ...]
    tape: Tape
    snapshot: NodeSnapshot


class Difference(Value, frozen=True, kw_only=True):
    """One value that a replay gave differently; `path` as in `pods[3].qos.qos`."""

    path: str
    captured: str
    replayed: str


class Recorded:
    """A pod source that says what another one said when the capture was made."""

    def __init__(self, report: SourceReport) -> None:
        self._report = report

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """The recorded report."""
        return self._report


def make_capture(
    host: HostRoot,
    settings: Settings,
    reports: tuple[SourceReport, ...],
    at_ns: int,
    wall_s: float,
    also: Callable[[HostRoot], object] = lambda _: None,
) -> Capture:
    """Observes the host once with the tape running.

    Args:
        host: where to look.
        settings: those in force; names and places of the API server are left out.
        reports: what other sources than host files know (Kubernetes).
        at_ns: CLOCK_MONOTONIC, nanoseconds.
        wall_s: seconds since the epoch.
        also: reads more of the host onto the tape (what `doctor` looks at).
    """
    tape_files = RecordingFiles(host.files, host.path)
    recorded = HostRoot(host.path, files=tape_files)
    clean = msgspec.structs.replace(settings, node=Node(name=NODE_NAME), kubernetes=Kubernetes())
    first = _look(recorded, clean, (), at_ns, wall_s)
    also(recorded)
    draft = Capture(
        version=__version__,
        at_ns=at_ns,
        wall_s=wall_s,
        settings=clean,
        reports=tuple(map(clean_report, reports)),
        tape=clean_tape(tape_files.tape()),
        snapshot=first,
    )
    return msgspec.structs.replace(draft, snapshot=replay(draft))


def captured_host(capture: Capture) -> HostRoot:
    """The recorded host; it can be read, not written."""
    return HostRoot(_REPLAY_ROOT, files=CapturedFiles(capture.tape, _REPLAY_ROOT))


def replay(capture: Capture, host: HostRoot | None = None, settings: Settings | None = None) -> NodeSnapshot:
    """The snapshot that this version makes of the capture, with other host files or settings where they are given."""
    host = host or captured_host(capture)
    sources = tuple(Recorded(report) for report in capture.reports)
    return _look(host, settings or capture.settings, sources, capture.at_ns, capture.wall_s)


def differences(captured: NodeSnapshot, replayed: NodeSnapshot) -> tuple[Difference, ...]:
    """Where two snapshots differ, in the order of the fields."""
    return tuple(_differences("", to_builtins(captured), to_builtins(replayed)))


def pack(capture: Capture) -> bytes:
    """The capture as gzipped JSON. Raises FuyaodError for one that `unpack` would refuse for its size."""
    text = encode(capture)
    if len(text) > MAX_CAPTURE_BYTES:
        raise FuyaodError(f"cannot pack the capture: its {len(text)} bytes are more than {MAX_CAPTURE_BYTES}")
    return gzip.compress(text, mtime=0)


def unpack(raw: bytes, name: str) -> Capture:
    """The capture in a file's bytes, gzipped or plain JSON.

    Raises:
        FuyaodError: it is no capture, is damaged, too large, or of a later schema; the text names the file.
    """
    try:
        text = _gunzip(raw) if raw[:2] == b"\x1f\x8b" else raw
        schema = msgspec.json.decode(text, type=_Schema).schema
        if schema > CAPTURE_SCHEMA:
            raise FuyaodError(
                f"cannot replay {name}: schema {schema} is newer than {CAPTURE_SCHEMA}; use a newer fuyaoctl"
            )
        return decode(text, Capture)
    except (zlib.error, EOFError, OSError, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FuyaodError(f"cannot replay {name}: it is no capture of fuyaoctl ({error})") from error


class _Schema(msgspec.Struct):
    schema: int


def _gunzip(raw: bytes) -> bytes:
    unzip = zlib.decompressobj(wbits=31)
    text = unzip.decompress(raw, MAX_CAPTURE_BYTES)
    if unzip.unconsumed_tail:
        raise ValueError(f"unpacks to more than {MAX_CAPTURE_BYTES} bytes")
    if not unzip.eof:
        raise EOFError("the file is cut short")
    return text


def _look(
    host: HostRoot, settings: Settings, sources: tuple[PodSource, ...], at_ns: int, wall_s: float
) -> NodeSnapshot:
    observer = NodeObserver(host, settings, sources=sources, processes=False)
    try:
        return observer.observe(at_ns, wall_s)
    finally:
        observer.close()


def kubernetes_report(snapshot: NodeSnapshot) -> tuple[SourceReport, ...]:
    """What the Kubernetes source had told an agent, from the agent's snapshot; empty where that source is off."""
    health = next((s for s in snapshot.sources if s.kind is SourceKind.KUBERNETES), None)
    if health is None:
        return ()
    pods = tuple(pod.record for pod in snapshot.pods if pod.record.source is SourceKind.KUBERNETES)
    return (SourceReport(health=health, pods=pods),)


def _differences(path: str, one: Any, two: Any) -> Iterable[Difference]:
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(one.keys() | two.keys()):
            yield from _differences(f"{path}.{key}" if path else key, one.get(key), two.get(key))
    elif isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two):
        for at, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from _differences(f"{path}[{at}]", left, right)
    elif one != two:
        yield Difference(path=path, captured=_short(one), replayed=_short(two))


def _short(value: Any) -> str:
    shown = repr(value) if not isinstance(value, list | tuple) else f"{len(value)} items"
    return shown if len(shown) <= 80 else shown[:77] + "..."
