"""What reaches the one who typed a command, whatever becomes of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from alerts.command_line import run


def raising(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (click.ClickException("a\nb"), 1, "x: a\nb\n"),
        (click.UsageError("a\nb"), 2, "x: a b (see --help)\n"),
        (click.ClickException("a" * 900), 1, f"x: {'a' * 500}…\n"),
        (OSError(28, "No space left on device"), 1, "x: the output cannot be written: No space"),
        (FileNotFoundError(2, "No such file", "a\x1b[2J\n"), 1, "x: a�[2J�: No such file\n"),
        (click.ClickException("\x1b[2J"), 1, "x: �[2J\n"),
        (KeyboardInterrupt(), 1, "\n"),
        (SystemExit(3), 3, ""),
    ],
)
def test_each_end_has_a_status_and_at_most_a_line(error, status, told, capfd) -> None:
    assert run(raising(error), "x", "x", []) == status
    assert capfd.readouterr().err.startswith(told)


@pytest.fixture
def sigint_as_in_a_terminal() -> Iterator[None]:
    """In the background a shell has programs ignore Ctrl-C, and Python leaves it at that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint_as_in_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_a_command_clear_up(number, capfd) -> None:
    @click.command()
    def command() -> None:
        try:
            signal.raise_signal(number)
        finally:
            click.echo("cleared up")

    before = signal.getsignal(number)
    assert run(command, "x", "x", []) == 1
    assert capfd.readouterr() == ("cleared up\n", "\n")
    assert signal.getsignal(number) is before


COMMANDS = [["monitoring", "budget", "llama-3.1-8b", "--gpu-memory", "24GiB"], ["alerts", "list"]]


def called(arguments: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_nobody_reads_the_output(arguments) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = called(arguments, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("arguments", COMMANDS[1:], ids=" ".join)
def test_the_output_cannot_be_written(arguments) -> None:
    with Path("/dev/full").open("w") as full:
        done = called(arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr == f"{arguments[0]}: the output cannot be written: No space left on device\n"


def test_a_terminal_that_knows_no_such_signs() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb", "COLUMNS": "40"}
    done = called(["alerts", "list"], stdout=subprocess.PIPE, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
