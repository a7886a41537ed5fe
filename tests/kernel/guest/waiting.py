"""Waiting for the kernel: on a condition, with a deadline."""

import time
from collections.abc import Callable

_PAUSE_S = 0.02


def wait_until(condition: Callable[[], bool], what: str, *, within_s: float = 60) -> None:
    """Return as soon as the condition holds.

    Args:
        condition: asked again and again.
        what: what is waited for, for the message.
        within_s: generous, because the machine is emulated.

    Raises:
        TimeoutError: it never held.
    """
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"cannot wait any longer for {what}: {within_s:g} s are over")
        time.sleep(_PAUSE_S)
