"""What is shown, in a log and in a terminal."""

import io
import re

from rich.console import Console

from monitoring.display import QUIET_SECONDS, Display
from monitoring.supervision.errors import ComponentError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_in_a_log_the_moving_line_is_written_now_and_then():
    out, clock = io.StringIO(), Clock()
    display = Display(Console(file=out, width=80), clock)
    display.still()
    for second in range(int(2 * QUIET_SECONDS) + 1):
        clock.now = second
        display.moving(f"at {second} s")
    assert out.getvalue().splitlines() == ["  … at 15 s", "  … at 30 s"]


def test_long_log_lines_are_cut_and_markup_is_not_read():
    out = io.StringIO()
    display = Display(Console(file=out, width=80))
    display.failure(ComponentError("vllm: ended [red]", ["[/nope]", "x" * 5000]))
    first, second, third = out.getvalue().splitlines()
    assert first == "✗ vllm: ended [red]"
    assert second.endswith("| [/nope]")
    assert len(third) < 200


def test_in_a_terminal_the_moving_line_stays_one_line():
    out = io.StringIO()
    display = Display(Console(file=out, width=40, force_terminal=True))
    display.moving("word " * 100)
    display.moving("more " * 100)
    display.still()
    display.done("done")
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue()).splitlines()
    assert lines[-1] == "✓ done"
    assert all(len(line) <= 40 for line in lines)
