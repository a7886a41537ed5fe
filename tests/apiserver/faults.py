"""Misbehaviour on demand: what a real API server or the network in front of it does on a bad day."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class Fault:
    """Where a fault applies: `verb` (get, list, watch, create, update, patch, delete, ...) and plural `resource`, None
    for any.

    It applies `times` times, None for until it is removed.
    """

    verb: str | None = None
    resource: str | None = None
    times: int | None = None

    def matches(self, verb: str, resource: str) -> bool:
        """Whether the fault hits a request."""
        return self.times != 0 and self.verb in (None, verb) and self.resource in (None, resource)


@dataclass(kw_only=True)
class Latency(Fault):
    """The request is served after `delay_s` seconds."""

    delay_s: float


@dataclass(kw_only=True)
class Hang(Fault):
    """Not one byte is answered; a watch is accepted and then says nothing. Lasts until the client goes or the server
    stops.
    """


@dataclass(kw_only=True)
class Stall(Fault):
    """Half the answer is sent, then nothing more comes on the open connection."""


@dataclass(kw_only=True)
class Refuse(Fault):
    """The request is answered with a Status of `code`, and Retry-After when `retry_after_s` is given."""

    code: int
    retry_after_s: int | None = None
    message: str = "refused by a fault of the test"


@dataclass(kw_only=True)
class Garbage(Fault):
    """The request is answered 200 with a body that is no API object; a watch gets it as its lines."""

    body: bytes = b"<html><body>502 Bad Gateway</body></html>\n"


@dataclass(kw_only=True)
class Cut(Fault):
    """The connection is aborted: of a list after half its body, of a watch in the middle of the line after
    `after_events` events.
    """

    after_events: int = 0


class Faults:
    """The faults now in force."""

    def __init__(self) -> None:
        self._active: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Put a fault in force; returns it for `remove`."""
        self._active.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Lift a fault; one that has run out already is ignored."""
        self._active = [other for other in self._active if other is not fault]

    def clear(self) -> None:
        """Lift all faults."""
        self._active = []

    def take(self, verb: str, resource: str) -> Fault | None:
        """The first fault that hits a request; counts as one of its `times`."""
        for fault in self._active:
            if fault.matches(verb, resource):
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None
