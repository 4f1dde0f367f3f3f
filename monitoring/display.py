"""What a person sees: lines that stay, and one that moves where there is a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.status import Status
from rich.text import Text

from monitoring import notification
from monitoring.notification import Notification
from monitoring.supervision.component import Component
from monitoring.supervision.errors import ComponentError

QUIET_SECONDS = 15.0
"""Without a terminal, the moving line is written this often."""

_LINE_LENGTH = 160  # vLLM's log has lines of thousands of characters


class Display:
    """Writes to a console; also the supervisor's observer."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the console, and a clock in monotonic seconds."""
        self._console = console
        self._clock = clock
        self._status: Status | None = None
        self._written_at = float("-inf")

    def say(self, text: str, style: str = "") -> None:
        """Write a line that stays."""
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def done(self, text: str) -> None:
        """Write that something succeeded."""
        self._line("✓", "green", text)

    def trouble(self, text: str, lines: Sequence[str] = ()) -> None:
        """Write that something is wrong, with the log lines that tell more."""
        self._line("✗", "bold red", text)
        for line in lines:
            self.say(f"    | {_shortened(line)}", style="dim")

    def moving(self, text: str) -> None:
        """Show what is going on; in a log, now and then."""
        if self._console.is_terminal:
            shown = Text(text[: max(20, self._console.width - 4)])
            if self._status is None:
                self._status = self._console.status(shown)
                self._status.start()
            else:
                self._status.update(shown)
        elif self._clock() - self._written_at >= QUIET_SECONDS:
            self._written_at = self._clock()
            self.say(f"  … {_shortened(text)}")

    def still(self) -> None:
        """Remove the moving line."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        # In a log, the next one is not written at once: most steps are short.
        self._written_at = self._clock()

    def notify(self, message: Notification) -> None:
        """Show a notification."""
        self._console.print()
        self._console.print(notification.render(message), soft_wrap=True)
        self._console.print()

    def failure(self, error: ComponentError) -> None:
        """Show why the chain could not start."""
        self.still()
        self.trouble(error.message, error.log)

    # --- the supervisor's observer ---

    def starting(self, component: Component) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.still()
        self.moving(f"{component.name}: starting")

    def waiting(self, component: Component, seconds: float, last_line: str) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.moving(f"{component.name}: starting, {seconds:.0f} s  {last_line}")

    def ready(self, component: Component, seconds: float) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.still()
        self.done(f"{component.name}: ready after {seconds:.1f} s at {component.url}")

    def crashed(
        self, component: Component, reason: str, lines: Sequence[str], pause: float
    ) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.trouble(f"{component.name}: {reason}; starting it again in {pause:g} s", lines)

    def given_up(self, component: Component, reason: str, lines: Sequence[str]) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.trouble(
            f"{component.name}: {reason}, again and again: given up. Everything else goes on; "
            "correct the cause, then stop the chain and start it again",
            lines,
        )

    def stopping(self, component: Component) -> None:
        """See `monitoring.supervision.observer.Observer`."""
        self.moving(f"{component.name}: stopping")

    def _line(self, sign: str, style: str, text: str) -> None:
        self._console.print(Text.assemble((sign, style), " ", text), soft_wrap=True)


def _shortened(text: str) -> str:
    return text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}…"
