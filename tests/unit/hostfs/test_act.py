"""`act` and `preview` against a kernel in memory."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fuyaod.errors import HostFileError
from fuyaod.hostfs import HostRoot, OsFiles
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act, preview, write_value
from fuyaod.model.action import OutcomeStatus, WriteFile
from tests.fakes.journalled import ROOT, WHY, open_journal, write
from tests.fakes.kernelfs import KernelFs

POD = f"{ROOT}/pod"


@pytest.fixture
def kernel() -> KernelFs:
    made = KernelFs()
    made.make_group(POD)
    return made


@pytest.mark.parametrize(
    ("file", "has", "wanted"),
    [
        pytest.param("cpuset.cpus", "0-3", "0,1,2,3", id="cpus_listed"),
        pytest.param("cpuset.cpus", "0-3", " 3 2,1-2,,0\n".strip(), id="cpus_any_order"),
        pytest.param("cpu.max", "40000 100000", "40000  100000", id="cpu_max_padded"),
        pytest.param("cpu.max", "40000 50000", "40000", id="cpu_max_keeps_its_period"),
        pytest.param("cpu.max", "max 100000", "max", id="cpu_max_none"),
        pytest.param("cpu.weight", "39", "039", id="weight_zero_in_front"),
        pytest.param("memory.high", "max", "max", id="memory_max"),
        pytest.param("memory.high", "4096", "5000", id="memory_cut_to_a_page"),
    ],
)
def test_act_value_means_the_same_writes_nothing(kernel: KernelFs, file: str, has: str, wanted: str) -> None:
    kernel.put(f"{POD}/{file}", has)
    journal, _ = open_journal(kernel)

    (outcome,) = act((write(f"pod/{file}", wanted),), journal)

    assert outcome.status is OutcomeStatus.SAME
    assert kernel.writes == []
    assert journal.entries() == ()


@pytest.mark.parametrize(
    ("file", "has", "wanted"),
    [
        pytest.param("cpuset.cpus", "0-3", "0-2", id="cpus"),
        pytest.param("cpu.max", "40000 100000", "40000 50000", id="period"),
        pytest.param("cpu.max", "40000 100000", "max", id="quota"),
        pytest.param("memory.high", "4096", "8192", id="next_page"),
        pytest.param("memory.high", "4096", "max", id="unlimited"),
        pytest.param("cpu.weight", "39", "3", id="weight"),
    ],
)
def test_act_other_value_is_written_and_verified(kernel: KernelFs, file: str, has: str, wanted: str) -> None:
    kernel.put(f"{POD}/{file}", has)
    journal, _ = open_journal(kernel)

    (outcome,) = act((write(f"pod/{file}", wanted),), journal)

    assert outcome.status is OutcomeStatus.DONE
    assert (outcome.before, kernel.writes) == (has, [(f"{POD}/{file}", wanted)])
    assert [entry.before for entry in journal.entries()] == [has]


def test_act_order_of_calls_journal_before_first_touch(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    start = len(files.calls)

    act((write("pod/cpu.weight", "1"),), journal)

    # look (stat, open, two reads, close), journal, touch (open, inode check, write, close)
    assert files.calls[start:][:10] == [
        "stat",
        "open",
        "pread",
        "pread",
        "close",
        "write",
        "open",
        "stat",
        "write",
        "close",
    ]


def test_act_cpus_outside_parent_is_clipped_with_what_is_effective(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpuset.cpus", "0-1")
    kernel.make_group(f"{POD}/container")
    journal, _ = open_journal(kernel)

    (outcome,) = act((write("pod/container/cpuset.cpus", "1-5"),), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.CLIPPED, "1")


def test_act_same_cpus_that_are_clipped_tells_what_is_effective(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpuset.cpus", "0-1")
    kernel.make_group(f"{POD}/container", cpuset_cpus="1-5")
    journal, _ = open_journal(kernel)

    (outcome,) = act((write("pod/container/cpuset.cpus", "1-5"),), journal)

    assert (outcome.status, outcome.before, outcome.effective) == (OutcomeStatus.SAME, "1-5", "1")


def test_act_empty_cpuset_stands_for_the_ancestors_and_is_not_clipped(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpuset.cpus", "0-1")
    journal, _ = open_journal(kernel)

    (outcome,) = act((write("pod/cpuset.cpus", ""),), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.DONE, "0-7")


def test_act_verify_path_named_is_the_one_that_is_read(kernel: KernelFs) -> None:
    folder = POD.removeprefix("/")
    action = WriteFile(path=f"{folder}/cpu.weight", value="7", reason=WHY, verify_path=f"{folder}/cpu.idle")
    journal, _ = open_journal(kernel)

    (outcome,) = act((action,), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.CLIPPED, "0")


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        pytest.param("pod/cpuset.cpus", "0-999", "ERANGE", id="no_such_cpu"),
        pytest.param("pod/cpuset.cpus", "1-0", "EINVAL", id="backwards"),
        pytest.param("busy/cpuset.cpus", "", "ENOSPC", id="empty_set_with_tasks"),
        pytest.param("pod/cpu.max", "500 100000", "EINVAL", id="quota_below_1_ms"),
        pytest.param("pod/cpu.stat", "1", "format is not known", id="file_that_is_not_in_the_table"),
        pytest.param("pod/cpu.weight", "1\n2", "one line of ASCII", id="two_lines"),
        pytest.param("../etc/cpu.weight", "1", "without '..'", id="outside_the_root"),
        pytest.param("p\0d/cpu.weight", "1", "without '..' and NUL", id="nul_in_the_path"),
        pytest.param("pod/cpu.weight", "\ud800", "one line of ASCII", id="value_that_is_no_text"),
    ],
)
def test_act_refused_step_gives_the_reason_and_the_next_ones_are_done(
    kernel: KernelFs, path: str, value: str, says: str
) -> None:
    kernel.make_group(f"{ROOT}/busy", populated=True, cpuset_cpus="0-3")
    journal, _ = open_journal(kernel)

    refused, done = act((write(path, value), write("pod/cgroup.freeze", "1")), journal)

    assert refused.status is OutcomeStatus.REFUSED
    assert says in (refused.error or "")
    assert (refused.error or "").startswith("cannot ")
    assert done.status is OutcomeStatus.DONE
    assert [entry.path for entry in journal.entries()] == [f"{POD}/cgroup.freeze".removeprefix("/")]


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EINVAL, errno.ENOSPC, errno.EACCES, errno.EROFS, errno.ERANGE])
@pytest.mark.parametrize(("call", "nth"), [("open", 2), ("write", 1)], ids=["open", "write"])
def test_act_kernel_says_no_names_value_file_and_errno(kernel: KernelFs, number: int, call: str, nth: int) -> None:
    journal, files = open_journal(kernel)

    with files.failing(call, "/pod/cpu.weight", number, nth=nth):
        (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert f'cannot write "1" to {POD}/cpu.weight: {errno.errorcode[number]}' in (outcome.error or "")
    assert (outcome.before, outcome.effective) == ("100", "100")
    assert journal.entries() == ()


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENODEV])
def test_act_group_vanishes_under_the_write_is_gone(kernel: KernelFs, number: int) -> None:
    journal, files = open_journal(kernel)

    with files.failing("write", "/pod/cpu.weight", number):
        (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert outcome.status is OutcomeStatus.GONE
    assert journal.entries() == ()


def test_act_missing_group_and_missing_file_are_gone(kernel: KernelFs) -> None:
    del kernel.groups[POD].values["cpu.max"]
    journal, _ = open_journal(kernel)

    outcomes = act((write("none/cpu.weight", "1"), write("pod/cpu.max", "max")), journal)

    assert [outcome.status for outcome in outcomes] == [OutcomeStatus.GONE, OutcomeStatus.GONE]


def test_act_group_made_again_since_the_decision_is_gone_and_untouched(kernel: KernelFs) -> None:
    decided_on = kernel.groups[POD].inode
    kernel.make_group(POD)
    journal, _ = open_journal(kernel)

    (outcome,) = act((write("pod/cpu.weight", "1", decided_on),), journal)

    assert outcome.status is OutcomeStatus.GONE
    assert kernel.writes == []


def test_act_group_made_again_between_look_and_write_is_gone_and_untouched(kernel: KernelFs) -> None:
    class Remaking(KernelFs):
        """The first write to the journal behind its header is the moment."""

        def write(self, fd: int, data: bytes) -> int:
            if b'"held"' in data:
                self.make_group(POD)
            return super().write(fd, data)

    remaking = Remaking()
    remaking.make_group(POD)
    journal, _ = open_journal(remaking)

    (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert outcome.status is OutcomeStatus.GONE
    assert (remaking.writes, journal.entries()) == ([], ())


def test_act_shorter_value_in_a_tree_of_plain_files_leaves_no_tail(tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    (tmp_path / "pod/cpu.max").write_text("100000 100000\n")
    with Journal.open(HostRoot(tmp_path), str(tmp_path / "journal")) as journal:
        act((WriteFile(path="pod/cpu.max", value="max 100", reason=WHY),), journal)
        written = (tmp_path / "pod/cpu.max").read_text()
        restore(journal)

    assert (written, (tmp_path / "pod/cpu.max").read_text()) == ("max 100\n", "100000 100000\n")


@pytest.mark.parametrize(
    ("verify_path", "says"),
    [
        pytest.param("/sys/fs/cgroup/pod/cpu.weight", "must be relative", id="absolute"),
        pytest.param("sys/../../etc/passwd", "without '..'", id="outside_the_root"),
    ],
)
def test_act_verify_path_that_cannot_be_used_is_refused_before_the_write_and_the_next_step_is_done(
    kernel: KernelFs, verify_path: str, says: str
) -> None:
    step = WriteFile(path=f"{POD}/cpu.weight".removeprefix("/"), value="7", reason=WHY, verify_path=verify_path)
    journal, _ = open_journal(kernel)

    (previewed,) = preview((step,), journal.host)
    refused, done = act((step, write("pod/cgroup.freeze", "1")), journal)

    assert (previewed.status, refused.status, done.status) == (
        OutcomeStatus.REFUSED,
        OutcomeStatus.REFUSED,
        OutcomeStatus.DONE,
    )
    assert says in (refused.error or "")
    assert kernel.writes == [(f"{POD}/cgroup.freeze", "1")]


def test_act_verify_path_that_no_system_call_takes_is_an_outcome_and_the_next_step_is_done(tmp_path: Path) -> None:
    for name in ("cpu.weight", "cgroup.freeze"):
        (tmp_path / name).write_text("0\n")
    steps = (
        WriteFile(path="cpu.weight", value="7", reason=WHY, verify_path="p\ud800d"),
        WriteFile(path="cgroup.freeze", value="1", reason=WHY),
    )

    with Journal.open(HostRoot(tmp_path), str(tmp_path / "journal")) as journal:
        refused, done = act(steps, journal)

    assert (refused.status, done.status) == (OutcomeStatus.REFUSED, OutcomeStatus.DONE)
    assert "'7' was written" in (refused.error or "")


def test_write_to_a_link_is_refused_and_what_it_points_to_stays(tmp_path: Path) -> None:
    """The system calls of `/` itself: no kernel file that is written is a link, so one is somebody's trap."""
    (tmp_path / "target").write_text("39\n")
    (tmp_path / "cpu.weight").symlink_to("target")
    host = HostRoot(tmp_path, OsFiles())

    with pytest.raises(HostFileError, match="ELOOP"):
        write_value(host, "cpu.weight", tmp_path.stat().st_ino, "7")

    assert (tmp_path / "target").read_text() == "39\n"


def test_preview_tells_and_writes_nothing(kernel: KernelFs) -> None:
    plan = (
        write("pod/cpu.weight", "1"),
        write("pod/cpu.max", "max"),
        write("none/cpu.max", "max"),
        write("pod/cpu.stat", "1"),
        write("../x/cpu.max", "1"),
    )

    outcomes = preview(plan, HostRoot("/", kernel))

    assert [outcome.status for outcome in outcomes] == [
        OutcomeStatus.DRY_RUN,
        OutcomeStatus.SAME,
        OutcomeStatus.GONE,
        OutcomeStatus.REFUSED,
        OutcomeStatus.REFUSED,
    ]
    assert (outcomes[0].before, outcomes[0].effective) == ("100", None)
    assert (kernel.writes, kernel.plain) == ([], {})
