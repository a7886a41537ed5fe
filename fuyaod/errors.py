"""The exception tree. A class exists only where a caller acts on it.

    FuyaodError
    ├── HostFileError        a kernel or host file could not be read or written: path and errno
    │   └── HostDenied       ... for lack of permission; observers turn it into a finding that names the capability
    ├── HostParseError       a file was read and makes no sense: path and value
    ├── SettingsError        the settings file or an override is refused: file and TOML path
    ├── JournalError         the journal cannot be trusted or written; no actuator may touch the host then
    └── ApiServerError       the Kubernetes API server is away or answers nonsense: go on from the last known state
        ├── ApiDenied        ... 401 or 403: credentials or a role are missing, asking again soon does not help
        ├── ApiExpired       ... 410: the version asked for is history, list again
        └── ApiSilent        ... a watch has said nothing for too long: only a byte proves that it lives

What vanished is no error: readers return None for ENOENT, ENODEV, ENOTDIR, ENXIO and ESRCH.
"""

from __future__ import annotations

import errno as errno_names
import os
from typing import Final

_ERRNO_NAMES: Final = {errno_names.EOPNOTSUPP: "EOPNOTSUPP"}
"""Where Python prefers another name (ENOTSUP) than the kernel's documents."""


class FuyaodError(Exception):
    """Root of all errors of this product. The text starts with "cannot" and names file and value."""


class HostFileError(FuyaodError):
    """A host file could not be read or written.

    Attributes:
        path: absolute path, root included.
        errno: the kernel's error number.
    """

    def __init__(self, doing: str, path: str, errno: int, hint: str = "") -> None:
        name = _ERRNO_NAMES.get(errno) or errno_names.errorcode.get(errno, str(errno))
        text = f"cannot {doing} {path}: {name} ({os.strerror(errno)})"
        super().__init__(f"{text}; {hint}" if hint else text)
        self.path = path
        self.errno = errno


class HostDenied(HostFileError):
    """The same for EACCES, EPERM and EROFS: more rights would help."""


class HostParseError(FuyaodError):
    """A host file holds something else than its format.

    Attributes:
        path: absolute path, root included.
        value: the text that was not understood, cut to 80 characters.
    """

    def __init__(self, path: str, value: object, expected: str) -> None:
        shown = repr(value)
        self.path = path
        self.value = shown if len(shown) <= 80 else shown[:77] + "..."
        super().__init__(f"cannot read {path}: {self.value} is not {expected}")


class SettingsError(FuyaodError):
    """The settings are refused; the text names the file and the TOML path (`$.observe.interval_ms`)."""


class JournalError(FuyaodError):
    """The journal is damaged beyond its last line, or cannot be written."""


class ApiServerError(FuyaodError):
    """The Kubernetes API server could not be reached, refused, or answered what cannot be used.

    Attributes:
        code: HTTP status, None when no answer came.
        retry_after_s: how long it asked to be left alone, None when it did not say.
    """

    def __init__(self, text: str, *, code: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.retry_after_s = retry_after_s


class ApiDenied(ApiServerError):
    """401 or 403: the credentials are not accepted, or a role is missing."""


class ApiExpired(ApiServerError):
    """410 Gone: the resource version is older than the server's history."""


class ApiSilent(ApiServerError):
    """An open watch has not sent one byte for too long."""


def host_error(doing: str, path: str, error: OSError) -> HostFileError:
    """The right class for what the kernel said."""
    number = error.errno or 0
    kind = HostDenied if number in (errno_names.EACCES, errno_names.EPERM, errno_names.EROFS) else HostFileError
    return kind(doing, path, number)
