"""`fuyaod` as a command line, without starting the daemon, and which Kubernetes it would follow."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from fuyaod import __version__
from fuyaod.agent.cli import main
from fuyaod.agent.sources import kubernetes_task
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupMode, CgroupTree
from fuyaod.model.pods import SourceKind, SourceState
from fuyaod.model.settings import Kubernetes, Settings, Switch

TREE = CgroupTree(mode=CgroupMode.NONE, mount=None, controllers=(), samples=(), kept_descriptors=0)


def invoke(*arguments: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, arguments, env=environment or {})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_settings_prints_every_default() -> None:
    code, out, _ = invoke("settings")

    assert code == 0
    assert msgspec.json.decode(out, type=Settings) == Settings()


def test_settings_shows_an_override() -> None:
    _, out, _ = invoke("settings", environment={"FUYAOD_OBSERVE__INTERVAL_MS": "250"})

    assert msgspec.json.decode(out)["observe"]["interval_ms"] == 250


def test_settings_of_a_refused_file_is_one_line_and_two(tmp_path: Path) -> None:
    bad = tmp_path / "x.toml"
    bad.write_text("[http]\nport = 3\n")

    code, out, err = invoke("settings", "--config", str(bad))

    assert (code, out) == (2, "")
    assert err.startswith("fuyaod: cannot use settings")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("run",), ("settings",)])
def test_help_teaches_with_text(arguments: tuple[str, ...]) -> None:
    code, out, _ = invoke(*arguments, "--help")

    assert code == 0
    assert len(out.splitlines()) > 6


def test_version_is_printed() -> None:
    assert __version__ in invoke("--version")[1]


def test_run_live_without_a_terminal_says_so(tmp_path: Path) -> None:
    code, _, err = invoke("run", "--live", "--root", str(tmp_path))

    assert code == 2
    assert "no terminal" in err


def test_run_on_a_folder_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    code, _, err = invoke("run", "--root", str(tmp_path / "nope"))

    assert code == 2
    assert "does not exist" in err


@pytest.mark.parametrize(
    ("kubernetes", "why"),
    [(Kubernetes(), "not in a pod"), (Kubernetes(enabled=Switch.OFF, server="https://x"), "switched off")],
)
async def test_without_api_server_the_source_is_off_and_says_why(kubernetes: Kubernetes, why: str) -> None:
    task = kubernetes_task(Settings(kubernetes=kubernetes), {}, HostRoot("/"), lambda: 7)
    await task.run()

    health = task.source.report(TREE, 9).health

    assert (health.kind, health.state) == (SourceKind.KUBERNETES, SourceState.OFF)
    assert why in health.details[0]


def test_kubernetes_on_without_a_server_is_refused_with_the_setting() -> None:
    settings = Settings(kubernetes=Kubernetes(enabled=Switch.ON))

    with pytest.raises(FuyaodError, match=r"kubernetes\.server"):
        kubernetes_task(settings, {}, HostRoot("/"), lambda: 7)


async def test_in_a_pod_the_api_server_is_followed() -> None:
    task = kubernetes_task(Settings(), {"KUBERNETES_SERVICE_HOST": "127.0.0.1"}, HostRoot("/"), lambda: 7)

    assert task.source.report(TREE, 9).health.state is SourceState.STARTING
