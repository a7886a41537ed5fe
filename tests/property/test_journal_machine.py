"""Agent, kernel, other writers, crashes and failing calls in any order: what is not ours is never lost."""

from __future__ import annotations

import contextlib
import errno

import hypothesis.strategies as st
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fuyaod.errors import JournalError
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus
from fuyaod.model.values import parse_cpulist
from tests.fakes.faults import Crash, Fault, FaultyFiles
from tests.fakes.journalled import ROOT, open_journal, write
from tests.fakes.kernelfs import KernelFs, PlainFile

GROUPS = ("be", "be/pod", "be/pod/container", "ls")
AGENT_VALUES = {
    "cgroup.freeze": ("0", "1"),
    "cpu.idle": ("0", "1"),
    "cpu.weight": ("1", "2", "bad"),
    "cpu.max": ("10000 100000", "20000", "max 50000", "1 1"),
    "cpuset.cpus": ("0-1", "1,0", "7", "0-99", ""),
    "memory.high": ("4096", "100000", "8192", "max"),
}
FOREIGN_VALUES = {
    "cpu.weight": ("501", "502"),
    "cpu.max": ("30000 100000", "40000 70000"),
    "cpuset.cpus": ("3", "4-5"),
    "memory.high": ("40960", "81920"),
}
"""None of them is a value the agent writes: what reads like the agent's own cannot be told from it."""

PHASES = [phase for phase in Phase if phase is not Phase.explain]  # it traces every line on Python 3.11

files_and_values = st.sampled_from([(file, value) for file, values in AGENT_VALUES.items() for value in values])
foreign_writes = st.sampled_from([(file, value) for file, values in FOREIGN_VALUES.items() for value in values])
steps = st.tuples(st.sampled_from(GROUPS), files_and_values, st.booleans())


class AgentOnAHost(RuleBasedStateMachine):
    """`theirs` is what every file must read in the end: the last value that was not written by the agent."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = KernelFs()
        self.kernel.plain["/proc/sys/kernel/random/boot_id"] = PlainFile(b"boot-1\n")
        self.theirs: dict[str, dict[str, str]] = {}
        self.known_inodes: dict[str, int] = {}
        self.journal: Journal | None = None
        self.files: FaultyFiles | None = None

    @initialize(weights=st.lists(st.sampled_from(["100", "39", "700"]), min_size=4, max_size=4))
    def host(self, weights: list[str]) -> None:
        for name, weight in zip(GROUPS, weights, strict=True):
            group = self.kernel.make_group(f"{ROOT}/{name}", populated=name.endswith("container"), cpu_weight=weight)
            self.theirs[name] = dict(group.values)
            self.known_inodes[name] = group.inode
        self.start()

    @precondition(lambda self: self.journal is None)
    @rule()
    def start(self) -> None:
        self.journal, self.files = open_journal(self.kernel)

    @precondition(lambda self: self.journal is not None)
    @rule(plan=st.lists(steps, min_size=1, max_size=5))
    def act(self, plan: list[tuple[str, tuple[str, str], bool]]) -> None:
        actions = tuple(
            write(f"{group}/{file}", value, self.known_inodes[group] if decided_long_ago else None)
            for group, (file, value), decided_long_ago in plan
        )
        assert self.journal is not None
        try:
            outcomes = act(actions, self.journal)
        except Crash:
            self.died()
            return
        assert [outcome.action for outcome in outcomes] == list(actions)

    @precondition(lambda self: self.journal is not None)
    @rule(again=st.booleans())
    def restore(self, again: bool) -> None:
        assert self.journal is not None
        with contextlib.suppress(Crash):
            restore(self.journal)
            if again:
                restore(self.journal)
            self.accept_inherited()
            return
        self.died()
        self.start()
        self.accept_inherited()

    @precondition(lambda self: self.journal is not None)
    @rule()
    def compact(self) -> None:
        assert self.journal is not None
        with contextlib.suppress(JournalError):
            try:
                self.journal.compact()
            except Crash:
                self.died()

    @precondition(lambda self: self.journal is not None)
    @rule(
        ahead=st.integers(0, 60),
        fault=st.sampled_from(Fault),
        number=st.sampled_from([errno.EIO, errno.ENOSPC, errno.EBUSY, errno.EACCES]),
    )
    def arm(self, ahead: int, fault: Fault, number: int) -> None:
        assert self.files is not None
        self.files.faults[len(self.files.calls) + ahead] = fault
        self.files.number = number

    @rule(group=st.sampled_from(GROUPS), change=foreign_writes)
    def somebody_else_writes(self, group: str, change: tuple[str, str]) -> None:
        file, value = change
        path = f"{ROOT}/{group}/{file}"
        if group not in self.theirs or (file == "cpu.weight" and self.kernel.value(f"{ROOT}/{group}/cpu.idle") == "1"):
            return
        self.kernel.put(path, value)
        self.theirs[group][file] = self.kernel.value(path)

    @rule(group=st.sampled_from(GROUPS[1:]), back=st.booleans())
    def group_goes(self, group: str, back: bool) -> None:
        for one in GROUPS:
            if f"{one}/".startswith(f"{group}/"):
                self.kernel.groups.pop(f"{ROOT}/{one}", None)
                self.theirs.pop(one, None)
        if back and (group == "ls" or group.rpartition("/")[0] in self.theirs):
            made = self.kernel.make_group(f"{ROOT}/{group}", populated=group.endswith("container"))
            self.theirs[group] = dict(made.values)

    @rule(group=st.sampled_from(GROUPS))
    def observe(self, group: str) -> None:
        if group in self.theirs:
            self.known_inodes[group] = self.kernel.groups[f"{ROOT}/{group}"].inode

    def died(self) -> None:
        self.kernel.end_process()
        self.journal = self.files = None

    def teardown(self) -> None:
        self.died()
        self.start()
        assert self.journal is not None
        outcomes = restore(self.journal)
        assert OutcomeStatus.REFUSED not in {outcome.status for outcome in outcomes}, outcomes
        self.accept_inherited()
        for group, expected in self.theirs.items():
            assert self.kernel.groups[f"{ROOT}/{group}"].values == expected, (group, outcomes)
        self.kernel.writes.clear()
        assert restore(self.journal) == ()
        assert self.kernel.writes == []

    def accept_inherited(self) -> None:
        """An empty set of a group with tasks comes back as its ancestor's CPUs."""
        group, file = "be/pod/container", "cpuset.cpus"
        path = f"{ROOT}/{group}"
        if group not in self.theirs or self.theirs[group][file]:
            return
        assert self.journal is not None
        held = {entry.key for entry in self.journal.entries()}
        if (f"{path}/{file}".removeprefix("/"), self.kernel.groups[path].inode) in held:
            return
        if parse_cpulist(self.kernel.value(f"{path}/{file}")) == self.kernel.effective_cpus(f"{ROOT}/be/pod"):
            self.theirs[group][file] = self.kernel.value(f"{path}/{file}")


AgentOnAHost.TestCase.settings = settings(max_examples=300, stateful_step_count=30, deadline=None, phases=PHASES)
TestAgentOnAHost = AgentOnAHost.TestCase
