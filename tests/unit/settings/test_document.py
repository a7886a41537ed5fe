"""docs/settings.md lists every key with its default."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from fuyaod.model.settings import Settings
from fuyaod.model.values import convert, to_builtins

DOCUMENT = Path(__file__).parents[3] / "docs" / "settings.md"


def documented() -> dict[str, str]:
    """Default by key, as the table writes it."""
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \|", DOCUMENT.read_text(), re.MULTILINE)
    return dict(rows)


def written(value: Any) -> str:
    """A default as the table writes it."""
    return "none" if value in (None, (), []) else f"`{json.dumps(value)}`"


def test_document_lists_every_setting_with_its_default() -> None:
    keys = {
        f"{section}.{key}": written(value)
        for section, table in to_builtins(Settings()).items()
        for key, value in table.items()
    }

    assert documented() == keys


def test_document_example_is_a_good_file() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)

    assert convert(tomllib.loads(example), Settings).observe.interval_ms == 500
