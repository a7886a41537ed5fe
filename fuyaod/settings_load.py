"""TOML file and environment into the typed settings. The only reader of the environment in the product.

An override is named after its TOML path: `FUYAOD_OBSERVE__INTERVAL_MS=500` is `observe.interval_ms = 500`. Tables in
lists (`qos.services`) have no override.
"""

from __future__ import annotations

import difflib
import enum
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from fuyaod.errors import SettingsError
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import LogFormat, LogLevel, Settings, Switch
from fuyaod.model.values import convert, to_builtins

PREFIX: Final = "FUYAOD_"
MAX_FILE_BYTES: Final = 1 << 20
"""A settings file above 1 MiB is a mistake (Kubernetes caps a ConfigMap at the same size)."""


ENUMS: Final[Mapping[str, type[enum.Enum]]] = {
    "class": QosClass,
    "default_class": QosClass,
    "enabled": Switch,
    "level": LogLevel,
    "format": LogFormat,
}
"""Keys whose value is one of a few words."""

UNSETTABLE: Final = {("qos", "default_class")}
"""Settings that an empty variable takes away."""


def load_settings(path: str | None, environment: Mapping[str, str]) -> Settings:
    """The settings of `path` (None: the defaults alone) with the overrides of `environment` on top.

    Raises:
        SettingsError: the file cannot be read or is no TOML, a key is unknown, a value has the wrong type or is out of
            range; the text names the file or variable and the TOML path.
    """
    raw = _read_toml(path) if path else {}
    source = path or "defaults"
    settings = _convert(raw, source, strict=True)
    _check(settings, source)
    overrides = _overrides(environment)
    if not overrides:
        return settings
    source = _override_source(overrides)
    merged = to_builtins(settings)
    for names, text in overrides.items():
        _set_in(merged, names, text)
    settings = _convert(merged, source, strict=False)
    _check(settings, source)
    return settings


def parse_listen(text: str) -> tuple[str, int]:
    """`"127.0.0.1:9917"` or `"[::1]:9917"` as address and port. Raises ValueError for anything else."""
    address, colon, port = text.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    if not colon or not address or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"{text!r} is not address:port")
    return address, int(port)


def resolve_state_dir(settings: Settings, environment: Mapping[str, str], uid: int) -> str:
    """The run-time folder: `state.dir`, else `/run/fuyaod` for root, else a folder of the user's own."""
    if settings.state.dir:
        return settings.state.dir
    if uid == 0:
        return "/run/fuyaod"
    base = environment.get("XDG_RUNTIME_DIR")
    return f"{base}/fuyaod" if base else f"/tmp/fuyaod-{uid}"  # noqa: S108 made with mode 0700 by its user


def resolve_socket(settings: Settings, environment: Mapping[str, str], uid: int) -> str:
    """Path of the node API's Unix socket: `rpc.socket`, else `fuyaod.sock` in the run-time folder."""
    return settings.rpc.socket or f"{resolve_state_dir(settings, environment, uid)}/fuyaod.sock"


def _read_toml(path: str) -> dict[str, Any]:
    try:
        raw = _read_at_most(path, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"cannot read settings {path}: {error.strerror}") from error
    if len(raw) > MAX_FILE_BYTES:
        raise SettingsError(f"cannot read settings {path}: larger than {MAX_FILE_BYTES} bytes")
    try:
        return tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:  # a number of 5000 digits is a ValueError that is no TOMLDecodeError
        raise SettingsError(f"cannot read settings {path}: {error}") from error


def _read_at_most(path: str, size: int) -> bytes:
    """The file, without ever waiting for it: the running agent reads it between two ticks. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise OSError(None, "it is a pipe, which can be read only once and may never end")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(size) or b""
    finally:
        os.close(descriptor)


def _convert(raw: dict[str, Any], source: str, *, strict: bool) -> Settings:
    try:
        return convert(raw, Settings, strict=strict)
    except msgspec.ValidationError as error:
        text = str(error)
        if " - at `$" not in text:
            text += " - at `$`"
        raise SettingsError(
            f"cannot use settings from {source}: {text}{_did_you_mean(text)}{_choices(text)}"
        ) from error


def _did_you_mean(message: str) -> str:
    unknown = re.search(r"unknown field `([^`]+)`", message)
    if not unknown:
        return ""
    near = difflib.get_close_matches(unknown[1], _all_keys(to_builtins(Settings())) | {"unit", "class"}, n=1)
    return f"; did you mean `{near[0]}`?" if near else "; `fuyaod settings` prints every key"


def _choices(message: str) -> str:
    wrong = re.search(r"Invalid enum value .* - at `\$\.(?:.*\.)?(\w+)`", message)
    kind = ENUMS.get(wrong[1]) if wrong else None
    return f"; it is one of {', '.join(str(choice.value) for choice in kind)}" if kind else ""


def _all_keys(table: dict[str, Any]) -> set[str]:
    found = set(table)
    for value in table.values():
        if isinstance(value, dict):
            found |= _all_keys(value)
    return found


def _overrides(environment: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    found = {}
    for name, text in environment.items():
        path = name.removeprefix(PREFIX)
        if path == name:
            continue
        if "__" not in path:
            _refuse_single_underscore(name, path)
            continue
        if not text.isprintable():  # bytes that are no UTF-8 come as surrogates, which are not printable either
            raise SettingsError(f"cannot use {name!a}: {text[:80]!a} has characters that cannot be printed")
        found[tuple(path.lower().split("__"))] = text
    return found


def _refuse_single_underscore(variable: str, path: str) -> None:
    for section, table in to_builtins(Settings()).items():
        for key in table:
            if path == f"{section}_{key}".upper():
                right = f"{PREFIX}{section}__{key}".upper()
                raise SettingsError(f"cannot use {variable}: two underscores stand between table and key, {right}")


def _set_in(table: Any, names: tuple[str, ...], text: str) -> None:
    variable = PREFIX + "__".join(names).upper()
    for name in names[:-1]:
        table = table.get(name) if isinstance(table, dict) else None
    if not isinstance(table, dict) or names[-1] not in table:
        raise SettingsError(f"cannot use {variable}: there is no setting `$.{'.'.join(names)}`")
    if isinstance(table[names[-1]], dict | list | tuple):
        raise SettingsError(f"cannot use {variable}: `$.{'.'.join(names)}` is a table, set it in the file")
    table[names[-1]] = None if not text and names in UNSETTABLE else text


def _override_source(overrides: dict[tuple[str, ...], str]) -> str:
    return "environment (" + ", ".join(sorted(PREFIX + "__".join(n).upper() for n in overrides)) + ")"


def _check(settings: Settings, source: str) -> None:
    for path, text in _texts("$", to_builtins(settings)):
        if not text.isprintable():  # names, paths and addresses all; NUL is an exception in every system call
            raise SettingsError(
                f"cannot use settings from {source}: {text[:80]!a} has characters that cannot be printed - at `{path}`"
            )
    for path, problem in _problems(settings):
        raise SettingsError(f"cannot use settings from {source}: {problem} - at `{path}`")


def _problems(settings: Settings) -> Iterator[tuple[str, str]]:
    """What no single type can refuse, with the TOML path."""
    if settings.http.listen:
        try:
            parse_listen(settings.http.listen)
        except ValueError as error:
            yield "$.http.listen", str(error)
    if settings.kubernetes.server and not _is_server(settings.kubernetes.server):
        yield "$.kubernetes.server", f"{settings.kubernetes.server!r} is not http(s)://host or http(s)://host:port"
    interval_ms, stale_after_s = settings.observe.interval_ms, settings.http.stale_after_s
    if stale_after_s * 1000 < 2 * interval_ms:
        yield (
            "$.http.stale_after_s",
            f"{stale_after_s} s is less than two intervals ($.observe.interval_ms = {interval_ms}): "
            "the agent would not be ready between two looks",
        )


def _is_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is none
        host = (parts.hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError):
        return False
    return parts.scheme in ("http", "https") and bool(host) and " " not in host


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text of the tree with its TOML path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(f"{path}.{key}", inner)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from _texts(f"{path}[{at}]", inner)
