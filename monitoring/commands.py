"""What the commands that start a chain have in common."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from alerts.settings import Settings, SettingsError, load
from monitoring.display import Display
from monitoring.supervision.interrupt import Interrupt


class BadSettings(click.ClickException):
    """What the user passed is at fault, so the exit status is that of wrong usage."""

    exit_code = 2


def load_settings(path: Path | None) -> Settings:
    """Return the settings, or raise a one-line error of wrong usage."""
    try:
        return load(path)
    except SettingsError as error:
        raise BadSettings(str(error)) from None


def start_display(console: Console) -> tuple[Display, Interrupt]:
    """Return a display, and the wish to stop with its signals taken over."""
    interrupt = Interrupt()
    interrupt.install()
    return Display(console), interrupt
