"""The one error that a user of the commands gets to read."""

from __future__ import annotations

import click


class SetupError(click.ClickException):
    """Something that the kit needs is not there, and the message says what to do about it.

    Shown by click as one line on standard error, with exit code 1.
    """
