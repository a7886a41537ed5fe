"""The live view, driven without a terminal."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("textual", reason="the live view needs the extra `top`")

from textual.widgets import Static

from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.view.live import PANES, LiveView
from tests.unit.rpc.samples import snapshot as make_snapshot


def text_of(view: LiveView, name: str) -> str:
    return str(view.query_one(f"#{name}", Static).content)


async def test_live_view_shows_each_snapshot_and_quits_on_q() -> None:
    shown: list[NodeSnapshot | None] = [None]
    loss = Finding(id="psi.system", status=FindingStatus.MISSING, summary="off", cost="blind", mend="boot psi=1")
    view = LiveView(lambda: shown[0], [loss], lambda: ["one", "two\x1b[2J"], "http://here")

    async with view.run_test(size=(160, 48)) as pilot:
        assert "waiting" in text_of(view, "head")
        shown[0] = msgspec.structs.replace(make_snapshot(full=True), seq=1)
        view.refresh_panes()
        await pilot.pause()

        assert "http://here" in text_of(view, "head")
        assert all(text_of(view, name) for name in PANES)
        assert "boot psi=1" in text_of(view, "findings")
        assert "two�[2J" in text_of(view, "log")
        await pilot.press("q")

    assert not view.is_running


async def test_live_view_takes_brackets_in_names_as_text() -> None:
    made = make_snapshot(full=True)
    pod = msgspec.structs.replace(made.pods[0].record, namespace="[red]", name="x[/]")
    made = msgspec.structs.replace(made, pods=(msgspec.structs.replace(made.pods[0], record=pod),))
    view = LiveView(lambda: made, [], list, "")

    async with view.run_test(size=(160, 48)):
        assert "[red]/x[/]" in text_of(view, "workloads")
