"""What the commands that start a chain have in common."""

from __future__ import annotations

from rich.console import Console

from monitoring.display import Display
from monitoring.supervision.interrupt import Interrupt


def start_display(console: Console) -> tuple[Display, Interrupt]:
    """Return a display, and the wish to stop with its signals taken over."""
    interrupt = Interrupt()
    interrupt.install()
    return Display(console), interrupt
