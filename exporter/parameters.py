"""Kinds of values that flags take.

click's own number ranges let ``nan`` through (it is below no bound), and its paths take an empty
text for the working folder.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from exporter.addresses import DEFAULT_URL, parse_url, redacted

MOST_WHOLE = 1_000_000_000
"""No count or length that a flag takes comes near it, and nothing computed from it overflows."""

_SHOWN_CHARACTERS = 40
_DECIMAL = re.compile(r"[+-]?[0-9]{1,30}")


class Parsed(click.ParamType[Any]):
    """A flag whose text goes through a parser of `exporter.options` or `exporter.addresses`."""

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


class Number(click.ParamType[float]):
    """A number between two bounds, so a finite one."""

    name = "number"

    def __init__(self, least: float, most: float, *, above: bool = False) -> None:
        """Take the bounds; with ``above``, the lower one is no value itself."""
        self.least, self.most, self.above = least, most, above

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail with one line."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not self.least <= number <= self.most or (self.above and number == self.least):
            lower = f"above {self.least:g} and at most" if self.above else f"from {self.least:g} to"
            self.fail(f"{shown(value)} is no number {lower} {self.most:g}", param, ctx)
        return number


class Whole(click.ParamType[int]):
    """A whole number between two bounds."""

    name = "integer"

    def __init__(self, least: int = 1, most: int = MOST_WHOLE) -> None:
        """Take the bounds."""
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail with one line."""
        text = str(value).strip()
        number = int(text) if _DECIMAL.fullmatch(text) else None
        if number is None or not self.least <= number <= self.most:
            self.fail(
                f"{shown(value)} is no whole number from {self.least} to {self.most}", param, ctx
            )
        return number


class NonEmpty(click.ParamType[str]):
    """A text that is more than blanks."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or fail with one line."""
        text = str(value)
        if not text.strip() or not text.isprintable():
            self.fail(f"{shown(text)} is no name: write one line", param, ctx)
        return text


class URL(click.ParamType[str]):
    """The root of a server, without a slash at the end."""

    name = "url"

    def __init__(self, example: str = DEFAULT_URL, *, query: bool = True) -> None:
        """Take what a message shows as an example, and whether there may be a query."""
        self._example = example
        self._query = query

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the URL, or fail with one line."""
        try:
            url = parse_url(str(value), self._example)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not self._query and ("?" in url or "#" in url):
            self.fail(f"{redacted(url)} has more than a path: write {self._example}", param, ctx)
        return url


class FilePath(click.Path[Path]):
    """A path; its kind is looked at only where it is there already."""

    def __init__(self, *, file: bool = True, folder: bool = True) -> None:
        """Take whether it may be a file or a folder."""
        super().__init__(path_type=Path, file_okay=file, dir_okay=folder)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the path, or fail with one line."""
        if not os.fspath(value).strip():
            self.fail("is empty: write a path", param, ctx)
        return super().convert(value, param, ctx)


def shown(value: object) -> str:
    """Return a value as a message quotes it: in one line, cut where it is long."""
    text = value if isinstance(value, str) else str(value)
    if len(text) > _SHOWN_CHARACTERS:
        return f"{text[:_SHOWN_CHARACTERS]!r}…"
    return repr(text)
