"""A started program together with every process that it starts in turn.

Each program leads a session of its own (hence a process group too), so that a Ctrl-C in the
terminal reaches the supervisor alone, and so that orphans are still known by their session after
their parent has died: vLLM's engine processes outlive a killed API server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from monitoring.supervision.component import Component

_POLL_SECONDS = 0.05
_AFTER_TERM_SECONDS = 2.0
_AFTER_KILL_SECONDS = 5.0


class Child:
    """One run of a component."""

    def __init__(self, component: Component, log: Path) -> None:
        """Start the program; its output is appended to ``log``.

        Raises:
            OSError: The program cannot be started, or the log not written.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self.log_offset = output.tell()
            self._popen = subprocess.Popen(
                component.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **component.environment},
                cwd=component.folder,
            )
        self._stop_seconds = component.stop_seconds
        self._descendants: set[psutil.Process] = set()

    @property
    def pid(self) -> int:
        """Process ID of the program, which is also its session's."""
        return self._popen.pid

    def poll(self) -> int | None:
        """Return the exit status (minus the signal's number for a signal), None while it runs."""
        return self._popen.poll()

    def remember_descendants(self) -> None:
        """Note who descends from the program, to find those who leave its session."""
        try:
            found = psutil.Process(self.pid).children(recursive=True)
        except psutil.Error:
            return
        self._descendants = {one for one in self._descendants if _alive(one)} | set(found)

    def stop(self, hurry: threading.Event | None = None) -> None:
        """End the program and all that it started, within a bounded time.

        Args:
            hurry: Once set, nobody is waited for any more.
        """
        self.remember_descendants()
        stop_session(self.pid, self._stop_seconds, self._descendants, hurry)
        # A program of many threads is a zombie already while its last threads still end.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_AFTER_KILL_SECONDS)


def stop_session(
    session: int,
    seconds: float,
    others: Iterable[psutil.Process] = (),
    hurry: threading.Event | None = None,
    since: float = 0.0,
) -> bool:
    """End all processes of a session, and ``others``.

    The leader is told first and gets ``seconds`` to put its own house in order; who is left then
    is told too, and killed 2 seconds later. Processes that are gone already are no error.

    Args:
        session: The session's ID, which is its leader's process ID.
        seconds: Time for the leader to end.
        others: Processes that may have left the session.
        hurry: Once set, nobody is waited for any more.
        since: Unix time before which none of the processes was started: an older one only has
            an ID that was used before.

    Returns:
        Whether there was anybody to end.
    """
    hurry = hurry or threading.Event()
    known = {one for one in {*members(session), *others} if _started_at(one) >= since}
    if not known:
        return False
    leaders = {one for one in known if one.pid == session}
    _signal(leaders, signal.SIGTERM)
    _await_end(leaders, seconds, hurry)
    known = {one for one in {*known, *members(session)} if _alive(one)}
    _signal(known, signal.SIGTERM)
    _await_end(known, _AFTER_TERM_SECONDS, hurry)
    known = {one for one in {*known, *members(session)} if _alive(one)}
    _signal(known, signal.SIGKILL)
    _await_end(known, _AFTER_KILL_SECONDS, threading.Event())
    return True


def members(session: int) -> set[psutil.Process]:
    """Return the live processes of a session."""
    found = set()
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and _alive(process):
                found.add(process)
        except OSError:  # ended meanwhile
            continue
    return found


def _alive(process: psutil.Process) -> bool:
    """Tell whether a process runs; a zombie only waits for its parent to ask for its status."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _started_at(process: psutil.Process) -> float:
    try:
        return process.create_time()
    except psutil.Error:
        return float("-inf")


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            # psutil compares the start time first, so that a reused ID is left in peace.
            process.send_signal(number)
        except psutil.Error:
            continue


def _await_end(processes: set[psutil.Process], seconds: float, hurry: threading.Event) -> None:
    deadline = time.monotonic() + seconds
    while any(map(_alive, processes)) and time.monotonic() < deadline:
        if hurry.wait(_POLL_SECONDS):
            return
