"""The wish to stop, as told by signals."""

from __future__ import annotations

import signal
import threading
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Set by Ctrl-C, SIGTERM or the end of the terminal.

    Attributes:
        stop: Set by the first signal.
        hurry: Set by the second: nobody is waited for any more.
    """

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.hurry = threading.Event()

    def install(self) -> None:
        """Take over the signals; only the main thread may."""
        for number in SIGNALS:
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop.is_set():
            self.hurry.set()
        self.stop.set()
