"""The wish to stop, as told by signals."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOST_BYTES = 4096


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
        """Take over the signals until the process ends; only the main thread may.

        A thread sets the events. A handler runs in the main thread, or within another handler,
        perhaps while that holds the lock of the event, and would then wait for itself for ever.
        Nor are the signals blocked and waited for: the programs that are started would inherit it.
        """
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in SIGNALS:
            # What nohup has ignored stays so. A shell ignores SIGINT for all that it starts with &,
            # and it is still meant when somebody sends it.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _leave_to_the_thread)
        threading.Thread(target=self._listen, args=(reading,), name="signals", daemon=True).start()

    def _listen(self, reading: int) -> None:
        while came := os.read(reading, _MOST_BYTES):
            for number in came:
                if number in SIGNALS:
                    self._on_signal()

    def _on_signal(self) -> None:
        if self.stop.is_set():
            self.hurry.set()
        self.stop.set()


def _leave_to_the_thread(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: that there is a handler makes the signal known to the thread."""
