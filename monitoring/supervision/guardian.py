"""A process that ends the chain's programs if the supervisor can no longer do it itself.

It reads from the supervisor which sessions there are: ``+ID SECONDS`` for one that was started,
``-ID`` for one that was stopped. The pipe's end means that the supervisor is gone, by SIGKILL at
worst, and whoever is left on the list is stopped.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import monitoring
from monitoring.supervision.process import stop_session


class Guardian:
    """The supervisor's end of the pipe."""

    def __init__(self, log: Path) -> None:
        """Start the guardian; its complaints are appended to ``log``."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "monitoring.supervision.guardian"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=Path(monitoring.__path__[0]).resolve().parent,
                text=True,
            )

    def watch(self, session: int, stop_seconds: float) -> None:
        """Put a session on the list; ``stop_seconds`` is its time to end by itself."""
        self._tell(f"+{session} {stop_seconds}")

    def forget(self, session: int) -> None:
        """Take a session off the list."""
        self._tell(f"-{session}")

    def close(self) -> None:
        """End the guardian; who is on its list still is stopped."""
        if self._popen.stdin:
            self._popen.stdin.close()
        self._popen.wait()

    def _tell(self, line: str) -> None:
        if self._popen.stdin and self._popen.poll() is None:
            self._popen.stdin.write(line + "\n")
            self._popen.stdin.flush()


def guard(lines: Iterable[str]) -> None:
    """Follow the supervisor's lines to their end, then stop who is left, last started first."""
    sessions: dict[int, float] = {}
    for line in lines:
        number, _, seconds = line[1:].strip().partition(" ")
        if line.startswith("+"):
            sessions[int(number)] = float(seconds)
        else:
            sessions.pop(int(number), None)
    for session, stop_seconds in reversed(sessions.items()):
        stop_session(session, stop_seconds)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    guard(sys.stdin)
