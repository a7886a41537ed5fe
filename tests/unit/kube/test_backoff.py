"""Back-off: bounds, growth, reset."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fuyaod.kube.backoff import FIRST_S, LAST_S, Backoff


@given(seed=st.integers(), failures=st.integers(0, 100))
def test_backoff_stays_below_its_doubling_ceiling(seed: int, failures: int) -> None:
    backoff = Backoff(Random(seed))

    waits_s = [backoff.next_s() for _ in range(failures)]

    assert all(0 <= wait_s <= min(LAST_S, FIRST_S * 2**n) for n, wait_s in enumerate(waits_s))


def test_backoff_uses_the_whole_range_and_begins_anew_after_a_reset() -> None:
    backoff = Backoff(Random(1))
    waits_s = [backoff.next_s() for _ in range(200)]

    backoff.reset()

    assert max(waits_s) > 0.9 * LAST_S
    assert min(waits_s[10:]) < 0.1 * LAST_S
    assert backoff.next_s() <= FIRST_S
