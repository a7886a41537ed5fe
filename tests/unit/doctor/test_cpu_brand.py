"""py-cpuinfo in its own process."""

from __future__ import annotations

import time

from fuyaod.doctor.observe.cpu_brand import ask_cpu_brand


def test_cpu_brand_of_this_machine_is_a_line_of_text() -> None:
    brand = ask_cpu_brand(60)

    assert brand is None or brand.isprintable()


def test_cpu_brand_past_its_deadline_is_none_and_the_child_is_gone() -> None:
    started = time.monotonic()

    assert ask_cpu_brand(0.001) is None
    assert time.monotonic() - started < 30
