"""Why the chain does not run."""

from __future__ import annotations

from collections.abc import Sequence

import click


class ChainError(click.ClickException):
    """The chain, or one of its programs, cannot run; the message is one line that says why.

    Shown by click as one line on standard error, with exit code 1.
    """


class ComponentError(ChainError):
    """One program of the chain failed.

    Attributes:
        log: The last lines of its log.
    """

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log = tuple(log)


class Interrupted(Exception):  # noqa: N818 - not an error: the user wants to stop
    """The user wants the chain to stop."""
