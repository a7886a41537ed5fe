"""The daemon under systemd: readiness, watchdog, reload, end, and services mapped to classes."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.kernel.guest.agents import UNIT, Agent, AgentUnit, write_settings
from tests.kernel.guest.waiting import wait_until

pytestmark = pytest.mark.systemd_boot

# As systemd writes `nginx-kernel-test.service` with a dash that is part of the name.
NGINX = "nginx-kernel\\x2dtest.service"
BATCH = "batch-kernel.slice"


@pytest.fixture
def services() -> Iterator[None]:
    """A unit that the settings call LS, a slice that they call BE, and one that no rule names."""
    wanted = {NGINX: "system.slice", "batch-job.service": BATCH, "nobody-knows.service": "system.slice"}
    for unit, where in wanted.items():
        subprocess.run(
            ["systemd-run", "--collect", f"--unit={unit}", f"--slice={where}", "sleep", "infinity"], check=True
        )
    yield
    subprocess.run(["systemctl", "stop", *wanted, BATCH], check=True)


def classes(agent: Agent) -> dict[str, str]:
    """Class of each service that is known."""
    return {service["record"]["unit"]: service["qos"]["qos"] for service in agent.snapshot()["services"]}


@pytest.mark.usefixtures("services")
def test_unit_lists_services_with_the_class_of_their_rule(agent: Agent) -> None:
    wait_until(lambda: agent.metrics()['fuyaod_services{qos="BE"}'] == 1, "the slice")

    assert classes(agent) == {NGINX: "LS", BATCH: "BE"}


@pytest.mark.usefixtures("services")
def test_unit_hangup_takes_settings_whose_file_looks_the_same(agent_unit: AgentUnit) -> None:
    agent = agent_unit.running()
    file = agent_unit.places.settings
    wait_until(lambda: agent.metrics()['fuyaod_services{qos="LS"}'] == 1, "the service")

    # Inode, size and time stay: without the signal nothing tells that there is something new.
    written = file.stat()
    write_settings(agent_unit.places, nginx="BE")
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert (file.stat().st_ino, file.stat().st_size) == (written.st_ino, written.st_size)
    subprocess.run(["systemctl", "kill", "--signal=HUP", UNIT], check=True)

    try:
        wait_until(lambda: agent.metrics()['fuyaod_services{qos="BE"}'] == 2, "the new class")
        assert agent.metrics()['fuyaod_settings_reloads_total{result="taken"}'] == 1
    finally:
        write_settings(agent_unit.places, nginx="LS")
    wait_until(lambda: agent.metrics()['fuyaod_services{qos="LS"}'] == 1, "the old class")


def test_unit_stopped_ends_with_success_and_leaves_no_socket(agent_unit: AgentUnit) -> None:
    agent = agent_unit.running()
    assert agent.socket.exists()

    end = agent_unit.stop()

    assert "Finished with result: success" in end
    assert "code=exited/status=0" in end
    assert not agent.socket.exists()


def test_unit_is_active_only_with_the_first_snapshot_and_tells_where_it_answers(agent_unit: AgentUnit) -> None:
    agent_unit.stop()

    agent_unit.begin()
    starting = agent_unit.show()
    agent = agent_unit.running()
    ready, _ = agent.get("/readyz")

    assert (starting["ActiveState"], starting["StatusText"]) == ("activating", "")
    assert ready == 200
    assert f"{agent.url}/metrics /healthz /readyz" in agent_unit.show()["StatusText"]
    assert f"gRPC {agent.socket}" in agent_unit.show()["StatusText"]


def test_unit_that_hangs_is_killed_by_the_watchdog(agent_unit: AgentUnit) -> None:
    agent = agent_unit.running()

    os.kill(agent.pid, signal.SIGSTOP)

    assert "Finished with result: watchdog" in agent_unit.wait_ended()
