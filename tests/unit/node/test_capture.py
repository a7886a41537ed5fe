"""A capture replays to the same snapshot, without the host and without personal details."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.doctor import diagnose, observe_facts
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.pods import (
    Container,
    OwnerRef,
    PodRecord,
    SourceHealth,
    SourceKind,
    SourceReport,
    SourceState,
)
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


WORD = "zyxw"
"""Planted wherever somebody's own words may stand; it must not come out."""


def plant(root: Path) -> None:
    """Our word in every file that may hold words of people."""
    files = {
        "proc/sys/kernel/hostname": f"{WORD}-host\n",
        "proc/cmdline": f"root=/dev/{WORD} isolcpus=1 rd.luks.key={WORD} psi=1 {WORD}=1\n",
        "proc/cpuinfo": f"processor\t: 0\nSerial\t\t: {WORD}\nCPU implementer : 0x48\n",
        "proc/self/status": f"Name:\t{WORD}\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t0\nGroups:\t{WORD}\n",
        "proc/self/mountinfo": f"20 1 0:1 / /{WORD} rw - nfs {WORD}:/export rw\n"
        "30 1 0:2 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
        "etc/hosts": f"10.0.0.1 {WORD}\n",
        "var/lib/kubelet/config.yaml": "kind: KubeletConfiguration\ncpuManagerPolicy: static\n"
        f"staticPodURLHeader:\n  Authorization: [{WORD}]\nclusterDNS: [{WORD}]\nproviderID: {WORD}\n",
        "var/lib/kubelet/cpu_manager_state": f'{{"policyName":"static","defaultCpuSet":"0-3","{WORD}":1,'
        f'"entries":{{"{WORD}-uid":{{"{WORD}":"2-3"}}}},"checksum":1}}',
        "var/lib/kubelet/memory_manager_state": f'{{"policyName":"Static","entries":{{"{WORD}":{{"{WORD}":[]}}}}}}',
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def planted_report(made: Materialised) -> SourceReport:
    """The API's word on the pods, with ours in every name and foreign label."""
    labels = {"owner": WORD, f"{WORD}/x": "1", "openfuyao.io/qos": "BE"}
    pod = PodRecord(
        uid=made.pods[0].uid,
        cgroup_uid=made.pods[0].cgroup_uid,
        source=SourceKind.KUBERNETES,
        namespace=f"{WORD}-team",
        name=f"{WORD}-pod",
        labels=labels,
        annotations=labels,
        owners=(OwnerRef(kind="Deployment", name=WORD, labels=labels, annotations=labels),),
        containers=(Container(name=WORD),),
    )
    health = SourceHealth(kind=SourceKind.KUBERNETES, state=SourceState.STALE, since_ns=0, details=(WORD,))
    return SourceReport(health=health, pods=(pod,))


def read_everything(host: HostRoot) -> None:
    """What `doctor` reads, and a file that nobody has thought of."""
    observe_facts(host, brand_deadline_s=0)
    for path in ("proc/cmdline", "proc/cpuinfo", "proc/self/status", "proc/self/mountinfo", "etc/hosts"):
        host.read(path)


@pytest.mark.parametrize("damage", [b"", b"\xff\n"], ids=["text", "not UTF-8"])
def test_capture_lets_no_word_of_people_out(root: Path, damage: bytes) -> None:
    made = materialise(declare("xeon-rdt"), root)
    plant(root)
    for path in ("proc/cmdline", "proc/cpuinfo", "var/lib/kubelet/config.yaml"):
        (root / path).write_bytes((root / path).read_bytes() + damage)
    settings = Settings(kubernetes=Kubernetes(server=f"https://{WORD}-api:6443"))

    capture = make_capture(HostRoot(root), settings, (planted_report(made),), 5, 1.0, also=read_everything)

    assert gzip.decompress(pack(capture)).decode().count(WORD) == 0


def test_capture_keeps_what_decisions_and_doctor_need(root: Path) -> None:
    made = materialise(declare("xeon-rdt"), root)
    plant(root)

    capture = make_capture(HostRoot(root), Settings(), (planted_report(made),), 5, 1.0, also=read_everything)

    text = capture.tape.text
    assert text["proc/cmdline"] == "isolcpus=1 psi=1\n"
    assert "CapEff" in text["proc/self/status"]
    assert "cgroup2" in text["proc/self/mountinfo"]
    assert "cpuManagerPolicy: static" in text["var/lib/kubelet/config.yaml"]
    assert '"2-3"' in text["var/lib/kubelet/cpu_manager_state"]
    assert capture.snapshot.pods[0].qos.qos is not None


@pytest.mark.parametrize("name", HOSTS)
def test_doctor_says_of_a_capture_what_it_says_of_the_host(name: str, root: Path) -> None:
    made = materialise(declare(name), root)
    host = HostRoot(made.root, FaultyFiles(made.root, made.faults))
    on_the_host = diagnose(observe_facts(host, brand_deadline_s=0))

    capture = make_capture(host, Settings(), (), 5, 1.0, also=lambda h: observe_facts(h, brand_deadline_s=0))

    assert diagnose(observe_facts(captured_host(capture), brand_deadline_s=0)) == on_the_host


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


def test_pack_of_what_could_not_be_unpacked_is_refused(root: Path) -> None:
    capture = capture_of(materialise(declare("one-cpu"), root))
    tape = msgspec.structs.replace(capture.tape, text={"proc/stat": "\0" * (23 << 20)})  # six bytes each in JSON

    with pytest.raises(FuyaodError, match="cannot pack the capture"):
        pack(msgspec.structs.replace(capture, tape=tape))
