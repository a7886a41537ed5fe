import os
import shlex
import subprocess
import sys

import pytest

from tests.kernel.boots import BOOTS, Boot
from tests.kernel.guest_pytest import REPOSITORY, CollectError, collect, guest_environ, guest_shell, pytest_argv


def by_name(name: str) -> Boot:
    return next(boot for boot in BOOTS if boot.name == name)


def test_guest_shell_quotes_expressions_and_writes_the_report_of_its_boot() -> None:
    words = shlex.split(guest_shell(by_name("plain"), "a or b"))

    assert words[words.index("-k") + 1] == "a or b"
    assert words[words.index("-m", 3) + 1] == "plain_boot or not systemd_boot"
    assert words[-1] == "--junitxml=$VM_OUT/kernel-plain.xml"


def test_guest_argv_without_keyword_has_none() -> None:
    assert "-k" not in pytest_argv(by_name("systemd"), None)


@pytest.mark.parametrize(
    ("keyword", "systemd", "plain"),
    [
        ("test_topology and offline", 1, 1),
        ("test_io_limit_on_the_disk", 1, 0),
        ("test_kernel_as_distributed", 0, 1),
        ("no_such_test", 0, 0),
    ],
    ids=["both", "systemd only", "plain only", "none"],
)
def test_collect_counts_the_tests_of_a_boot(keyword: str, systemd: int, plain: int) -> None:
    assert (collect(by_name("systemd"), keyword), collect(by_name("plain"), keyword)) == (systemd, plain)


def test_collect_with_a_keyword_that_is_no_expression_is_an_error() -> None:
    with pytest.raises(CollectError, match="no_such or"):
        collect(by_name("plain"), "no_such or")


def test_host_pytest_collects_no_guest_test() -> None:
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "tests/kernel"]

    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert "tests/kernel/guest" not in done.stdout
    assert "no tests" in done.stdout


def test_guest_test_started_on_the_host_refuses_to_run() -> None:
    argv = pytest_argv(by_name("plain"), "test_node_distances")
    environ = {**os.environ, **guest_environ(), "FUYAOD_VM_SPEC": "/nowhere"}

    done = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "cannot run here" in done.stdout
