"""A capture replays to the same snapshot, without the host and without personal details."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Kubernetes, Settings
from fuyaod.node.capture import (
    Capture,
    captured_host,
    differences,
    kubernetes_report,
    make_capture,
    pack,
    replay,
    unpack,
)
from tests.hosts.declare import HOSTS, Materialised, declare, materialise
from tests.hosts.faults import FaultyFiles
from tests.hosts.scratch import scratch_root
from tests.unit.node.test_observe import api_report, look


@pytest.fixture
def root() -> Iterator[Path]:
    with scratch_root() as path:
        yield path


def capture_of(made: Materialised, settings: Settings | None = None) -> Capture:
    host = HostRoot(made.root, FaultyFiles(made.root, made.faults))
    return make_capture(host, settings or Settings(), (api_report(made),), 5, 1.0)


@pytest.mark.parametrize("name", HOSTS)
def test_replay_of_declared_host_gives_the_captured_snapshot(name: str, root: Path) -> None:
    capture = unpack(pack(capture_of(materialise(declare(name), root))), "x")

    assert differences(capture.snapshot, replay(capture)) == ()


def test_capture_decides_as_the_host_did(root: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), root)
    on_the_host = look(made, None, api_report(made))

    captured = capture_of(made).snapshot

    assert [(p.record.uid, p.qos.qos) for p in captured.pods] == [(p.record.uid, p.qos.qos) for p in on_the_host.pods]
    assert captured.topology.cpu == on_the_host.topology.cpu
    assert captured.node_memory == on_the_host.node_memory


def test_capture_holds_no_names_of_node_pods_or_api_server(root: Path) -> None:
    made = materialise(declare("xeon-rdt"), root)
    (root / "proc/sys/kernel/hostname").write_text("zyxw-host-7\n")
    (root / "proc/cmdline").write_text("root=/dev/zyxw-disk isolcpus=1 psi=1 password=hunter2\n")
    settings = Settings(kubernetes=Kubernetes(server="https://zyxw-api:6443"))
    report = api_report(made)
    labelled = msgspec.structs.replace(
        report.pods[0], namespace="zyxw-team", labels={"owner": "zyxw-person", "openfuyao.io/qos": "BE"}
    )
    report = msgspec.structs.replace(report, pods=(labelled, *report.pods[1:]))

    capture = make_capture(HostRoot(root), settings, (report,), 5, 1.0, also=lambda h: h.read("proc/cmdline"))
    text = gzip.decompress(pack(capture)).decode()

    # No plain `not in`: its failure would diff megabytes.
    leaked = [word for word in ("zyxw", "hunter2", *(pod.name for pod in made.pods)) if word in text]
    assert leaked == []
    assert "isolcpus=1 psi=1" in capture.tape.text["proc/cmdline"]


def test_differences_name_path_and_both_values(root: Path) -> None:
    capture = capture_of(materialise(declare("one-cpu"), root))
    changed = msgspec.structs.replace(capture.snapshot, seq=77)

    (found,) = differences(capture.snapshot, changed)

    assert (found.path, found.captured, found.replayed) == ("seq", "1", "77")


def test_replay_of_changed_label_decides_differently(root: Path) -> None:
    capture = capture_of(materialise(declare("one-cpu"), root, pods=1))
    report = capture.reports[0]
    assert capture.snapshot.pods[0].qos.qos is QosClass.HLS
    pod = msgspec.structs.replace(report.pods[0], labels={"openfuyao.io/qos": "BE"})
    changed = msgspec.structs.replace(capture, reports=(msgspec.structs.replace(report, pods=(pod,)),))

    assert replay(changed).pods[0].qos.qos is QosClass.BE
    assert any(d.path.startswith("pods[0].qos") for d in differences(capture.snapshot, replay(changed)))


def test_captured_host_cannot_be_written(root: Path) -> None:
    host = captured_host(capture_of(materialise(declare("one-cpu"), root)))

    with pytest.raises(OSError, match="cannot be written"):
        host.files.write(3, b"x")


def test_kubernetes_report_comes_back_out_of_an_agents_snapshot(root: Path) -> None:
    made = materialise(declare("one-cpu"), root)
    report = api_report(made)

    (found,) = kubernetes_report(look(made, None, report))

    assert {p.uid for p in found.pods} == {p.uid for p in report.pods}
    assert kubernetes_report(look(made)) == ()


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b"nonsense", gzip.compress(b"{}"), gzip.compress(b'{"schema": 1}'), b"\x1f\x8b", b"[" * 100_000],
    ids=["empty", "no schema", "text", "empty gzip", "schema only", "cut gzip", "deep"],
)
def test_unpack_of_something_else_is_our_error_with_the_name(raw: bytes) -> None:
    with pytest.raises(FuyaodError, match=r"cannot replay bug\.gz"):
        unpack(raw, "bug.gz")


def test_unpack_of_a_later_schema_says_so() -> None:
    with pytest.raises(FuyaodError, match="schema 99 is newer"):
        unpack(b'{"schema": 99}', "bug.gz")


def test_unpack_of_a_cut_capture_is_our_error(root: Path) -> None:
    raw = pack(capture_of(materialise(declare("one-cpu"), root)))

    with pytest.raises(FuyaodError, match=r"cut short|no capture"):
        unpack(raw[: len(raw) // 2], "bug.gz")


@given(st.binary(max_size=300))
def test_unpack_of_any_bytes_never_crashes(raw: bytes) -> None:
    for candidate in (raw, gzip.compress(raw)):
        with pytest.raises(FuyaodError, match="cannot replay"):
            unpack(candidate, "x")
