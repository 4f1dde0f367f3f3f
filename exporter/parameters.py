"""Kinds of values that flags take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


class Parsed(click.ParamType[Any]):
    """A flag whose text goes through one of the parsers of `exporter.options`."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        """Take the name that ``--help`` shows and what parses, raising ValueError."""
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text; values pass as they are."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
