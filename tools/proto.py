"""Generates the Python code of every `.proto` file in `fuyao_api/`, or tells whether the committed code is current.

    python tools/proto.py           # writes *_pb2.py, *_pb2.pyi and *_pb2_grpc.py beside the .proto files
    python tools/proto.py --check   # writes nothing; exits 1 and names the files that are not current

The folder is part of every file's name in the descriptor pool (`fuyao_api/node/v1/node.proto`): Python keeps one pool
for the whole process, in which two files called `api.proto` collide.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = "fuyao_api"
GENERATED: Final = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py")


def generate(root: Path, into: Path) -> None:
    """Runs protoc over all `.proto` files below `root`/fuyao_api. Raises SystemExit with what protoc said."""
    sources = sorted(str(path.relative_to(root)) for path in (root / PACKAGE).rglob("*.proto"))
    outputs = [f"--{kind}={into}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", *outputs, *sources]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"cannot generate code from {', '.join(sources)}: {done.stderr.strip()}")


def generated_files(root: Path) -> dict[Path, bytes]:
    """Path relative to `root` and content of every generated file below it."""
    paths = (path for pattern in GENERATED for path in (root / PACKAGE).rglob(pattern))
    return {path.relative_to(root): path.read_bytes() for path in paths}


def outdated(fresh: dict[Path, bytes], committed: dict[Path, bytes]) -> list[Path]:
    """Files that are missing, differ, or belong to no `.proto` file any more."""
    return sorted(path for path in fresh.keys() | committed.keys() if fresh.get(path) != committed.get(path))


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 current or written, 1 not current."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the code is not current")
    parser.add_argument("--root", type=Path, default=REPOSITORY, help="the repository (default: this one)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        generate(options.root, Path(folder))
        fresh = generated_files(Path(folder))
    changed = outdated(fresh, generated_files(options.root))
    if options.check:
        for path in changed:
            print(f"not current: {path} (run `python tools/proto.py`)", file=sys.stderr)
        return 1 if changed else 0
    for path in changed:
        target = options.root / path
        if path in fresh:
            target.write_bytes(fresh[path])
        else:
            target.unlink()
        print(f"{'wrote' if path in fresh else 'removed'} {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
