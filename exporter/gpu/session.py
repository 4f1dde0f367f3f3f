"""A driver library's life: initialised when needed, kept, given up, tried again with pauses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from exporter.gpu import GPUError

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 60.0
"""Pauses between attempts double from the first to the longest: an attempt costs milliseconds,
and yet a driver that comes late is to be found within a minute."""


class Session:
    """Holds a library initialised in this process.

    It begins at the first use and not at the start, because driver libraries do not survive a
    fork: a child process begins its own.
    """

    def __init__(
        self,
        start: Callable[[], None],
        stop: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
        process_id: Callable[[], int] = os.getpid,
    ) -> None:
        """Take what initialises (or raises `GPUError`) and shuts down, a clock, and getpid."""
        self._start = start
        self._stop = stop
        self._monotonic = monotonic
        self._process_id = process_id
        self._owner: int | None = None
        self._failure = ""
        self._retry_at = 0.0
        self._pause = FIRST_PAUSE_SECONDS

    def open(self) -> bool:
        """Initialise the library unless it is; tell whether it was done now.

        Raises:
            GPUError: It cannot be, or it is too early to try again.
        """
        if self._owner == self._process_id():
            return False
        self._owner = None  # after a fork: what the parent holds is not ours to shut down
        if self._failure and self._monotonic() < self._retry_at:
            raise GPUError(self._failure)
        try:
            self._start()
        except GPUError as error:
            raise self.fail(str(error)) from error
        self._owner = self._process_id()
        return True

    def works(self) -> None:
        """Note that the library answers: the next failure is a new one."""
        self._failure = ""
        self._pause = FIRST_PAUSE_SECONDS

    def fail(self, message: str) -> GPUError:
        """Give the library up for a while and return the error to raise."""
        self.close()
        self._failure = message
        self._retry_at = self._monotonic() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        return GPUError(message)

    def close(self) -> None:
        """Shut the library down if this process has initialised it."""
        if self._owner == self._process_id():
            self._owner = None
            self._stop()
