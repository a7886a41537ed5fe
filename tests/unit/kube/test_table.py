"""The table of pods against a plain dictionary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuyaod.kube import wire
from fuyaod.kube.observe.records import OwnerKey
from fuyaod.kube.observe.table import PodTable
from fuyaod.model.pods import OwnerRef


def make(uid: str, label: str, owner: str = "") -> wire.Pod:
    owners = [wire.Reference(api_version="apps/v1", kind="ReplicaSet", name=owner, uid=owner, controller=True)]
    metadata = wire.Metadata(uid=uid, name=uid, labels={"x": label}, owner_references=owners if owner else None)
    return wire.Pod(metadata=metadata)


def named(key: OwnerKey) -> tuple[OwnerRef, ...]:
    return (OwnerRef(kind=key.kind, name=key.name),)


UIDS = st.sampled_from("abcd")
STEPS = st.one_of(
    st.tuples(st.just("put"), UIDS, st.sampled_from("123")),
    st.tuples(st.just("remove"), UIDS, st.just("")),
    st.tuples(st.just("keep"), UIDS, st.just("")),
)


@given(st.lists(STEPS, max_size=30))
def test_table_holds_what_a_dictionary_would(steps: list[tuple[str, str, str]]) -> None:
    table, model = PodTable(named), dict[str, str]()
    for what, uid, label in steps:
        before, records = dict(model), table.records()
        match what:
            case "put":
                table.put(make(uid, label))
                model[uid] = label
            case "remove":
                table.remove(uid)
                model.pop(uid, None)
            case _:
                table.keep_only([uid])
                model = {uid: model[uid]} if uid in model else {}
        assert [(each.uid, each.labels["x"]) for each in table.records()] == sorted(model.items())
        assert (table.records() is records) == (before == model)


def test_controllers_go_with_their_last_pod() -> None:
    table = PodTable(named)
    for uid, owner in (("a", "r"), ("b", "r"), ("c", "s")):
        table.put(make(uid, "1", owner))

    table.remove("a")
    table.put(make("c", "1"))

    assert {key.name for key in table.controllers()} == {"r"}


def test_owners_looked_at_again_change_only_their_own_pods() -> None:
    known: dict[str, str] = {}
    table = PodTable(lambda key: (OwnerRef(kind=key.kind, name=key.name, labels=dict(known) or None),))
    table.put(make("a", "1", "r"))
    table.put(make("b", "1"))
    a, b = table.records()

    table.refresh_owners()
    unchanged = table.records()
    known["qos"] = "BE"
    table.refresh_owners()

    assert unchanged[0] is a
    assert table.records()[0].owners[0].labels == {"qos": "BE"}
    assert table.records()[1] is b
