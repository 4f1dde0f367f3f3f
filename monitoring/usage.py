"""What the user typed cannot work."""

from __future__ import annotations

import click


class WrongUsage(click.ClickException):
    """One line that says what to change; ends with exit code 2, as click's own usage errors do."""

    exit_code = 2
