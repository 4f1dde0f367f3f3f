"""Starts the chain's programs in order, watches them, starts fallen ones again, stops them all.

One thread does everything: whoever runs the chain calls `Supervisor.tick` a few times a second.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from monitoring.exchange import ExchangeError, ask
from monitoring.supervision import log
from monitoring.supervision.component import Component
from monitoring.supervision.errors import ComponentError, Interrupted
from monitoring.supervision.guardian import Guardian
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.observer import Observer
from monitoring.supervision.policy import RestartPolicy
from monitoring.supervision.process import Child

LOG_LINES = 12
_POLL_SECONDS = 0.2
_HTTP_SECONDS = 1.0
_HTTP_OK = 200
_KEEP_DESCENDANTS_SECONDS = 5.0


class Phase(StrEnum):
    """Where a program is in its life."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    FAILED = "failed"
    STOPPED = "stopped"


class Supervised:
    """A component with what is known about its runs."""

    def __init__(self, component: Component, log_file: Path) -> None:
        self.component = component
        self.log_file = log_file
        self.phase = Phase.WAITING
        self.child: Child | None = None
        self.restarts = 0
        self.quick_crashes = 0
        self.started_at = 0.0
        self.ready_at: float | None = None
        self.restart_at = 0.0

    def last_lines(self, count: int = LOG_LINES) -> list[str]:
        """Return the last log lines of the current run."""
        offset = self.child.log_offset if self.child else 0
        return log.tail(self.log_file, count, offset, self.component.noise)


def answers(url: str) -> bool:
    """Tell whether a GET of ``url`` yields status 200, and all of its answer within a second."""
    try:
        return ask("GET", url, _HTTP_SECONDS).status == _HTTP_OK
    except ExchangeError:
        return False


class Supervisor:
    """Runs components; see the module's description."""

    def __init__(
        self,
        components: Sequence[Component],
        logs: Path,
        observer: Observer,
        guardian: Guardian | None = None,
        policy: RestartPolicy | None = None,
        is_ready: Callable[[str], bool] = answers,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the components in the order in which they are to be started.

        Args:
            components: What to run.
            logs: Folder of their logs.
            observer: Told of all that happens.
            guardian: Told which sessions there are.
            policy: When to start what has fallen again.
            is_ready: Tells whether a URL answers 200.
            clock: Monotonic seconds.
        """
        self.supervised = [
            Supervised(component, logs / f"{component.name}.log") for component in components
        ]
        self._observer = observer
        self._guardian = guardian
        self._policy = policy or RestartPolicy()
        self._is_ready = is_ready
        self._clock = clock
        self._remembered_at = 0.0
        self.on_change: Callable[[], None] = lambda: None

    def start(self, interrupt: Interrupt) -> None:
        """Start all components, each once the one before it is ready.

        Raises:
            ComponentError: A program is missing, ended by itself or did not get ready in time.
            Interrupted: The user wants to stop.
        """
        for one in self.supervised:
            one.log_file.unlink(missing_ok=True)
            self._observer.starting(one.component)
            self._launch(one)
            self.on_change()
            while one.phase is Phase.STARTING:
                if interrupt.stop.wait(_POLL_SECONDS):
                    raise Interrupted
                self._await_ready(one, first=True)

    def tick(self) -> bool:
        """Look after all components once; return whether anything changed."""
        before = [(one.phase, one.child) for one in self.supervised]
        for one in self.supervised:
            match one.phase:
                case Phase.STARTING:
                    self._await_ready(one)
                case Phase.RUNNING:
                    self._watch(one)
                case Phase.RESTARTING if self._clock() >= one.restart_at:
                    self._restart(one)
        if self._clock() - self._remembered_at > _KEEP_DESCENDANTS_SECONDS:
            self._remembered_at = self._clock()
            for one in self.supervised:
                log.bound(one.log_file)
                if one.child:
                    one.child.remember_descendants()
        return before != [(one.phase, one.child) for one in self.supervised]

    def stop(self, interrupt: Interrupt | None = None) -> None:
        """Stop all components, last started first."""
        for one in reversed(self.supervised):
            if one.child:
                self._observer.stopping(one.component)
                self._end(one, interrupt)
            one.phase = Phase.STOPPED

    @property
    def failed(self) -> list[str]:
        """Names of the components that were given up."""
        return [one.component.name for one in self.supervised if one.phase is Phase.FAILED]

    def _launch(self, one: Supervised) -> None:
        component = one.component
        try:
            one.child = Child(component, one.log_file)
        except OSError as error:
            raise ComponentError(
                f"{component.name}: cannot start {error.filename or component.command[0]}: "
                f"{error.strerror}"
            ) from None
        if self._guardian:
            self._guardian.watch(one.child.pid, component.stop_seconds)
        one.phase = Phase.STARTING
        one.started_at = self._clock()
        one.ready_at = None

    def _await_ready(self, one: Supervised, first: bool = False) -> None:
        elapsed = self._clock() - one.started_at
        reason = self._ended(one)
        if reason is None and self._is_ready(one.component.ready_url):
            # Whoever answers must be our program, not another that took its port meanwhile.
            reason = self._ended(one)
            if reason is None:
                one.phase = Phase.RUNNING
                one.ready_at = self._clock()
                self._observer.ready(one.component, elapsed)
                return
        if reason is None and elapsed > one.component.start_seconds:
            reason = f"was not ready after {one.component.start_seconds:g} s"
        if reason is None:
            line = next(iter(one.last_lines(1)), "")
            self._observer.waiting(one.component, elapsed, line)
        elif first:
            raise ComponentError(f"{one.component.name}: {reason}", one.last_lines())
        else:
            self._fell(one, reason)

    def _watch(self, one: Supervised) -> None:
        reason = self._ended(one)
        if reason:
            self._fell(one, reason)

    def _fell(self, one: Supervised, reason: str) -> None:
        lines = one.last_lines()
        self._end(one, None)  # what it left behind may still hold the port
        ran = self._clock() - one.ready_at if one.ready_at is not None else 0.0
        one.quick_crashes = one.quick_crashes + 1 if ran < self._policy.quick_seconds else 1
        if one.quick_crashes >= self._policy.attempts:
            one.phase = Phase.FAILED
            self._observer.given_up(one.component, reason, lines)
            return
        pause = self._policy.pause(one.quick_crashes)
        one.phase = Phase.RESTARTING
        one.restart_at = self._clock() + pause
        self._observer.crashed(one.component, reason, lines, pause)

    def _restart(self, one: Supervised) -> None:
        one.restarts += 1
        try:
            self._launch(one)
        except ComponentError as error:
            self._fell(one, error.message.removeprefix(f"{one.component.name}: "))

    def _end(self, one: Supervised, interrupt: Interrupt | None) -> None:
        if one.child is None:
            return
        one.child.stop(interrupt.hurry if interrupt else None)
        if self._guardian:
            self._guardian.forget(one.child.pid)
        one.child = None

    @staticmethod
    def _ended(one: Supervised) -> str | None:
        status = one.child.poll() if one.child else None
        return None if status is None else _describe(status)


def _describe(status: int) -> str:
    if status >= 0:
        return f"ended by itself with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (out of memory?)" if status == -signal.SIGKILL else ""
    return f"was ended by {name}{hint}"
