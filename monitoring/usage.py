"""What the user typed cannot work."""

from __future__ import annotations

from typing import Any

import click

from exporter.options import parse_url


class URL(click.ParamType[str]):
    """The root of a server, without a slash at the end."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the URL, or fail with one line."""
        try:
            return parse_url(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class WrongUsage(click.ClickException):
    """One line that says what to change; ends with exit code 2, as click's own usage errors do."""

    exit_code = 2
