"""Run one command in a virtual machine: `python -m tests.kernel.vm [options] -- COMMAND`.

The command runs as root in the current folder; what it writes is lost, except below `$VM_OUT`, which `--out` keeps.
Exit status: that of the command, 77 when this machine cannot run one, 124 after the time limit, 125 when the guest
died.
"""

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import assert_never

from tests.kernel.vm.console import GuestEnd, Limits
from tests.kernel.vm.ground import cache_folder
from tests.kernel.vm.guest_files import Command
from tests.kernel.vm.host import Unmet
from tests.kernel.vm.processes import exit_when_asked
from tests.kernel.vm.runner import GuestRun, run_in_guest
from tests.kernel.vm.setup import EXIT_SKIPPED, prepared
from tests.kernel.vm.spec import InitMode, Vm

_EXIT_TIMED_OUT = 124
_EXIT_DIED = 125


def main() -> int:
    """Entry point."""
    args = _parser().parse_args()
    exit_when_asked()
    vm = Vm(
        cpus=args.cpus,
        nodes=args.nodes,
        sockets=args.sockets or args.nodes,
        threads=args.threads,
        mem_mib=args.mem_mib,
        mode=InitMode(args.mode),
        rdt=args.rdt,
        disk_mib=args.disk_mib,
    )
    shell = args.command[0] if len(args.command) == 1 else shlex.join(args.command)
    with prepared(cache_folder(os.environ), print) as ground, tempfile.TemporaryDirectory() as nowhere:
        if isinstance(ground, Unmet):
            print(f"SKIPPED kernel tests: {ground.reason}")
            return EXIT_SKIPPED
        if vm.rdt and ground.no_resctrl is not None:
            print(f"SKIPPED resctrl: {ground.no_resctrl}")
            return EXIT_SKIPPED
        run = run_in_guest(
            vm,
            ground,
            Command(shell=shell, cwd=Path.cwd()),
            results=Path(args.out or nowhere),
            limits=Limits(total_s=args.limit_s),
            on_line=print,
        )
    return _exit_code(run)


def _parser() -> argparse.ArgumentParser:
    shape = Vm()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=[mode.value for mode in InitMode], default=shape.mode.value)
    parser.add_argument("--rdt", action="store_true", help="enumerate resctrl features (protocol only)")
    parser.add_argument("--cpus", type=int, default=shape.cpus)
    parser.add_argument("--nodes", type=int, default=shape.nodes)
    parser.add_argument("--sockets", type=int, help="default: one per node")
    parser.add_argument("--threads", type=int, default=shape.threads, help="per core")
    parser.add_argument("--mem-mib", type=int, default=shape.mem_mib)
    parser.add_argument("--disk-mib", type=int, default=shape.disk_mib)
    parser.add_argument("--out", help="folder for results and logs")
    parser.add_argument("--limit-s", type=float, default=Limits().total_s)
    parser.add_argument("command", nargs="+")
    return parser


def _exit_code(run: GuestRun) -> int:
    if run.end is not GuestEnd.FINISHED:
        print(run.kernel_log, file=sys.stderr)
        print(f"cannot finish the command: {run.end.value} after {run.total_s:.0f} s", file=sys.stderr)
    match run.end:
        case GuestEnd.FINISHED:
            return run.exit_code or 0
        case GuestEnd.TIMED_OUT | GuestEnd.NO_BOOT:
            return _EXIT_TIMED_OUT
        case GuestEnd.DIED:
            return _EXIT_DIED
        case never:
            assert_never(never)


if __name__ == "__main__":
    sys.exit(main())
