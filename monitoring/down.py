"""``python -m monitoring down``: stops the chain that runs in a run folder."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import click
from rich.console import Console

from monitoring import state
from monitoring.display import Display
from monitoring.options import run_folder_option
from monitoring.running import clear_leftovers
from monitoring.supervision.errors import ChainError

STOP_SECONDS = 90.0
"""Longer than all programs together may take to end."""

_LOOK_SECONDS = 0.1


@click.command("down")
@run_folder_option
def command(*, run_dir: Path) -> int:
    """Stop the chain; also clear up what one left whose supervisor died."""
    display = Display(Console())
    if not state.is_running(run_dir):
        if not run_dir.is_dir() or state.read(run_dir) is None:
            display.say(f"No chain runs in {run_dir}: nothing to stop.")
            return 0
        with state.locked(run_dir):
            clear_leftovers(run_dir, display)
        display.done("Cleared up after a chain whose supervisor had died.")
        return 0
    chain = state.read(run_dir)
    if chain is None:
        raise ChainError(
            f"a chain is just starting or stopping in {run_dir}: try again in a moment"
        )
    stop(chain.pid, run_dir, display)
    display.done("Stopped.")
    return 0


def stop(supervisor: int, run_dir: Path, display: Display, seconds: float = STOP_SECONDS) -> None:
    """Tell the supervisor to stop everything, and wait until it has.

    Raises:
        ChainError: It belongs to someone else, or does not end.
    """
    try:
        os.kill(supervisor, signal.SIGTERM)
    except PermissionError:
        raise ChainError(f"pid {supervisor} is another user's: let that user stop it") from None
    except ProcessLookupError:
        pass
    deadline = time.monotonic() + seconds
    while state.is_running(run_dir):
        if time.monotonic() > deadline:
            raise ChainError(
                f"pid {supervisor} has not stopped after {seconds:g} s: end it with "
                f"`kill -9 {supervisor}`; its programs end with it"
            )
        display.moving("stopping")
        time.sleep(_LOOK_SECONDS)
    display.still()
