"""Packages of the running release, and files of packages from its backports that are unpacked, never installed."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_SUITE = "bookworm"
_BACKPORTS = f"{_SUITE}-backports"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_LOCK_WAIT_S = 300
_NETWORK = {"Acquire::Retries": 3, "Acquire::http::Timeout": 30, "Acquire::https::Timeout": 30}


class AptError(RuntimeError):
    """apt could not do its work: no network, no such package, no space. The tests are then skipped."""


def missing_packages(names: Sequence[str]) -> list[str]:
    """Those of the packages that are not installed."""
    argv = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names]
    listed = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    installed = {line.split()[0] for line in listed.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in installed]


def install(names: Sequence[str]) -> None:
    """Install packages from the sources that apt has.

    Raises:
        AptError: apt refused.
    """
    options = _options({"DPkg::Lock::Timeout": _LOCK_WAIT_S, **_NETWORK})
    # One source that cannot be read is no reason to give up, but may be the reason why the rest fails.
    updated = _call(["apt-get", *options, "update"])
    installed = _call(["apt-get", *options, "install", "--yes", "--no-install-recommends", *names])
    if installed.returncode:
        raise AptError(f"cannot install {', '.join(names)}: {_last_words(installed)} (update: {_last_words(updated)})")


class Backports:
    """The backports suite of the mirror that apt uses, with lists and downloads in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        """Read the suite's package lists.

        Args:
            folder: an empty folder for lists and downloads.

        Raises:
            AptError: no Debian source configured, or it cannot be reached.
        """
        self._folder = folder
        sources = folder / "sources.list"
        sources.write_text(f"deb [signed-by={_KEYRING}] {find_mirror(_configured_sources())} {_BACKPORTS} main\n")
        for name in ("lists/partial", "archives/partial", "deb"):
            (folder / name).mkdir(parents=True)
        settings: dict[str, object] = {
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": folder / "lists",
            # As if nothing were installed: what is asked for comes from this suite or not at all.
            "Dir::State::Status": "/dev/null",
            "Dir::Cache": folder,
            "APT::Sandbox::User": "root",
            **_NETWORK,
        }
        self._options = _options(settings)
        _run(["apt-get", *self._options, "-o", "APT::Update::Error-Mode=any", "update"])

    def dependency(self, package: str, prefix: str) -> str:
        """The package behind a meta package: its first dependency whose name starts with `prefix`.

        Raises:
            AptError: there is none.
        """
        listed = _run(["apt-cache", *self._options, "depends", package])
        for line in listed.splitlines():
            kind, _, name = line.strip().partition(": ")
            if kind == "Depends" and name.startswith(prefix):
                return name
        raise AptError(f"cannot find the package behind {package} in {_BACKPORTS}")

    def unpack(self, names: Sequence[str], into: Path) -> None:
        """Download packages and unpack their files into a folder.

        Raises:
            AptError: a download failed.
        """
        deb = self._folder / "deb"
        into.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", *self._options, "download", *names], cwd=deb)
        for package in sorted(deb.glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(package), str(into)])
            package.unlink()


def find_mirror(sources: str) -> str:
    """The address of the mirror that serves this release.

    Args:
        sources: lines of `address|suite as configured|code name|component`.

    Raises:
        AptError: the release is in none of them.
    """
    for line in sources.splitlines():
        address, suite, code_name, component = line.split("|")
        if component == "main" and _SUITE in (suite, code_name):
            return address
    raise AptError(f"cannot find {_SUITE} main in apt's sources")


def _configured_sources() -> str:
    fields = "$(REPO_URI)|$(RELEASE)|$(CODENAME)|$(COMPONENT)"
    return _run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])


def _options(settings: Mapping[str, object]) -> list[str]:
    return ["-q", *(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))]


def _run(argv: Sequence[str], cwd: Path | None = None) -> str:
    done = _call(argv, cwd)
    if done.returncode:
        raise AptError(f"cannot run {argv[0]} for {argv[-1]}: {_last_words(done)}")
    return done.stdout


def _call(argv: Sequence[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=environ, cwd=cwd)


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stderr.strip() or done.stdout.strip() or "nothing"
    return said.splitlines()[-1]
