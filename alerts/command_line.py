"""The border between a command and who typed it: one line for what fails, and an exit status."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

_WRONG_USAGE = 2
_MOST_CHARACTERS = 500
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(
    command: click.Command, program: str, label: str, arguments: Sequence[str] | None = None
) -> int:
    """Run a command; tell on standard error what failed.

    Args:
        command: The command, or a group of them.
        program: What was typed to start it, for the help.
        label: What the line of an error begins with.
        arguments: What follows the program; None: those of the process.

    Returns:
        The exit status: 0 for success, 1 for what failed or was interrupted, 2 for wrong usage; a
        command may have others.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a sign gets a question mark in its place.
            stream.reconfigure(errors="replace")
    try:
        with _ended_as_by_ctrl_c():
            status = _status(command, program, label, arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _discard_output()
        if not isinstance(error, BrokenPipeError):  # else nobody reads any more
            where = _cut(str(error.filename or "the output cannot be written"))
            click.echo(f"{label}: {where}: {reason(error)}", err=True)
        return 1
    return status


def reason(error: OSError) -> str:
    """Return what the system says of an error, also where cheroot has wrapped it into text."""
    wrapped = re.search(r"\[Errno -?\d+\] ([^)]+)", str(error))
    return error.strerror or (wrapped[1] if wrapped else str(error))


def _status(
    command: click.Command, program: str, label: str, arguments: Sequence[str] | None
) -> int:
    given = None if arguments is None else list(arguments)
    try:
        result = command.main(given, prog_name=program, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        hint = " (see --help)" if isinstance(error, click.UsageError) else ""
        click.echo(f"{label}: {_told(error)}{hint}", err=True)
        return error.exit_code
    except click.Abort:
        return 1
    except SystemExit as ended:
        result = ended.code
    return result if isinstance(result, int) else 0


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and the end of the terminal clear up as Ctrl-C does, while the block runs.

    A command that takes the signals over itself may do so; they are given back at the end.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(error: click.ClickException) -> str:
    """Return the message: one line for wrong usage, cut where what was typed fills a screen."""
    message = error.format_message()
    lines = [" ".join(message.split())] if error.exit_code == _WRONG_USAGE else message.split("\n")
    return "\n".join(_cut(line) for line in lines)


def _cut(line: str) -> str:
    """Return a line that does nothing to a terminal and does not fill it."""
    shown = "".join(sign if sign.isprintable() else "�" for sign in line[:_MOST_CHARACTERS])
    return shown if len(line) <= _MOST_CHARACTERS else f"{shown}…"


def _discard_output() -> None:
    """Lead what is still to be printed nowhere: Python would try again at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass
