"""Whatever group files say, the snapshot can be sent."""

from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.model.settings import Settings
from fuyaod.model.values import encode_pretty
from fuyaod.node.observe import NodeObserver
from fuyaod.rpc.convert import node_message
from tests.unit.cgroups.trees import FILES, TestTree

IO = "8:0 rbytes={0} wbytes={0} rios={0} wios={0}\n"


@pytest.mark.parametrize("number", ["-5", "1_000", "9" * 19, "9" * 20, "9" * 25, "18446744073709551615"])
@pytest.mark.parametrize("name", FILES)
def test_snapshot_of_any_counter_is_a_message_and_json(tmp_path: Path, name: str, number: str) -> None:
    tree = TestTree(tmp_path)
    (path, *_) = tree.put_kubepods(1)
    text = {
        "cpu.stat": "usage_usec {0}\nuser_usec {0}\nsystem_usec {0}\nnr_periods {0}\nnr_throttled {0}\n"
        "throttled_usec {0}\n",
        "memory.stat": "anon {0}\nfile {0}\nshmem {0}\ninactive_file {0}\npgmajfault {0}\n",
        "memory.events": "low {0}\nhigh {0}\nmax {0}\noom {0}\noom_kill {0}\n",
        "io.stat": IO * 3,
    }.get(name, "some avg10=0.00 avg60=0.00 avg300=0.00 total={0}\n" if "pressure" in name else "{0}\n")
    tree.write(path, name, text.format(number))
    observer = NodeObserver(HostRoot(tmp_path), Settings(), processes=False)

    snapshot = observer.observe(0, 0.0)

    assert node_message(snapshot).cgroups.observed_groups > 0
    assert encode_pretty(snapshot)
    damaged = number != "9" * 19 or name == "io.stat"
    assert [f"{path}/{name}" in unreadable for unreadable in snapshot.cgroups.unreadable] == [True] * damaged
    observer.close()
