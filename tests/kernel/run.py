"""Run the kernel tests: `python -m tests.kernel.run`.

Fetches emulator and kernel when they are missing, boots at most two machines, and runs one pytest in each over
`tests/kernel/guest`. A test marked `systemd_boot` or `plain_boot` runs in that boot, any other in both.
Exit status: 0 all passed, 1 something failed, 77 this machine cannot run them.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from tests.kernel.boots import BOOTS, Boot
from tests.kernel.guest_pytest import (
    REPOSITORY,
    CollectError,
    collect,
    compile_byte_code,
    guest_environ,
    guest_shell,
    junit_name,
    python_folders,
)
from tests.kernel.results import (
    EXIT_FAILED,
    EXIT_OK,
    Counts,
    judge_boot,
    merge,
    read_counts,
    summary_line,
)
from tests.kernel.vm.console import GuestEnd, Limits
from tests.kernel.vm.ground import Ground, cache_folder
from tests.kernel.vm.guest_files import Command
from tests.kernel.vm.host import Unmet
from tests.kernel.vm.processes import exit_when_asked
from tests.kernel.vm.runner import GuestRun, run_in_guest
from tests.kernel.vm.setup import EXIT_SKIPPED, prepared


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The command line.

    Args:
        boots: which machines.
        keyword: pytest's `-k`.
        junit: folder for JUnit files.
        required: a machine that cannot run the tests is a failure.
    """

    boots: tuple[Boot, ...]
    keyword: str | None
    junit: Path | None
    required: bool


def main() -> int:
    """Entry point."""
    options = _read_options()
    exit_when_asked()
    start = time.monotonic()
    try:
        tests = {boot: count for boot in options.boots if (count := collect(boot, options.keyword))}
    except CollectError as error:
        print(f"cannot collect the kernel tests:\n{error}")
        return EXIT_FAILED
    exit_code, counts = _run_all(tests, options)
    print(summary_line(counts, time.monotonic() - start), flush=True)
    return exit_code


def _read_options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boot", choices=[*(boot.name for boot in BOOTS), "all"], default="all")
    parser.add_argument("--junit", type=Path, metavar="DIR", help="keep the JUnit files in this folder")
    parser.add_argument("-k", dest="keyword", metavar="EXPR", help="only tests that match (pytest -k)")
    parser.add_argument("--require", action="store_true", help="fail where the machine cannot run the tests")
    args = parser.parse_args()
    boots = tuple(boot for boot in BOOTS if args.boot in (boot.name, "all"))
    return Options(boots=boots, keyword=args.keyword, junit=args.junit, required=args.require)


def _run_all(tests: Mapping[Boot, int], options: Options) -> tuple[int, Counts]:
    if not tests:
        print("cannot find a kernel test that matches")
        return EXIT_FAILED, Counts()
    cache = cache_folder(os.environ)
    with prepared(cache, lambda text: print(f"kernel tests: {text}", flush=True)) as ground:
        if isinstance(ground, Unmet):
            print(f"SKIPPED kernel tests: {ground.reason}")
            return EXIT_FAILED if options.required else EXIT_SKIPPED, Counts(skipped=sum(tests.values()))
        if ground.no_resctrl:
            print(f"SKIPPED resctrl protocol tests: {ground.no_resctrl}")
        compile_byte_code()
        counts = merge(_run_boot(boot, expected, ground, cache / "log", options) for boot, expected in tests.items())
    incomplete = options.required and ground.no_resctrl is not None
    return EXIT_FAILED if counts.failed or incomplete else EXIT_OK, counts


def _run_boot(boot: Boot, expected: int, ground: Ground, logs: Path, options: Options) -> Counts:
    results = logs / boot.name
    shutil.rmtree(results, ignore_errors=True)
    print(f"kernel tests: {expected} tests in the {boot.name} boot, logs in {results}", flush=True)
    run = run_in_guest(
        boot.vm if ground.no_resctrl is None else msgspec.structs.replace(boot.vm, rdt=False),
        ground,
        Command(shell=guest_shell(boot, options.keyword), cwd=REPOSITORY, env=guest_environ(), needs=python_folders()),
        results=results,
        limits=Limits(),
        on_line=_stamped_printer(boot),
    )
    junit = results / junit_name(boot)
    if options.junit is not None and junit.exists():
        options.junit.mkdir(parents=True, exist_ok=True)
        shutil.copy(junit, options.junit)
    _print_end(boot, run)
    return judge_boot(read_counts(junit), run.exit_code, expected)


def _stamped_printer(boot: Boot) -> Callable[[str], None]:
    start = time.monotonic()
    return lambda line: print(f"{boot.name} {time.monotonic() - start:6.1f} s  {line}", flush=True)


def _print_end(boot: Boot, run: GuestRun) -> None:
    if run.end is not GuestEnd.FINISHED:
        print(f"{run.kernel_log}\ncannot finish the {boot.name} boot: {run.end.value}, last kernel messages above")
    booted = "never booted" if run.boot_s is None else f"booted in {run.boot_s:.1f} s"
    print(f"kernel tests: {boot.name} {booted}, ended after {run.total_s:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
