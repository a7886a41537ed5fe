"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

CONFIG_VARIABLE = "FUYAOD_CONFIG"


def root_option(text: str, default: str | None = None) -> Callable[[F], F]:
    """`--root DIR`; what it does for the command is in `text`."""
    return click.option("--root", metavar="DIR", default=default, show_default=default is not None, help=text)


config_option: Callable[[F], F] = click.option(
    "--config",
    metavar="FILE",
    envvar=CONFIG_VARIABLE,
    show_envvar=True,
    help="Settings (TOML), the same as the agent's; default: built-in values.",
)

socket_option: Callable[[F], F] = click.option(
    "--socket", metavar="PATH", help="The agent's socket; default: the one that the settings give."
)

json_option: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on standard output, for scripts."
)
