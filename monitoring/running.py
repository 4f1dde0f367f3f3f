"""A running chain: put together, started, looked after, written down, stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alerts.settings import Settings
from monitoring import chain, configuration, state
from monitoring.configuration import Layout
from monitoring.display import Display
from monitoring.notification import Notification, NotificationFile
from monitoring.options import ChainOptions
from monitoring.programs import Programs
from monitoring.simulated_gpu import SimulatedGPU
from monitoring.supervision import ports
from monitoring.supervision.errors import ChainError
from monitoring.supervision.guardian import Guardian
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.policy import RestartPolicy
from monitoring.supervision.process import stop_session
from monitoring.supervision.supervisor import Supervised, Supervisor, answers

_LEFTOVER_SECONDS = 10.0
_CLOCK_SECONDS = 2.0  # start times are rounded, and counted from a rounded boot time


class RunningChain:
    """What the commands do with a chain that runs.

    Attributes:
        options: What it was started with.
        settings: Its settings, with the links of this chain.
        layout: Where its files lie.
        supervisor: Runs its programs.
    """

    def __init__(
        self,
        options: ChainOptions,
        settings: Settings,
        layout: Layout,
        supervisor: Supervisor,
        display: Display,
        command: str,
    ) -> None:
        self.options = options
        self.settings = settings
        self.layout = layout
        self.supervisor = supervisor
        self._display = display
        self._command = command
        self._started_at = time.time()
        self._inbox = NotificationFile(layout.notifications, from_end=True)

    def look_after(self) -> list[Notification]:
        """Do what is due: restarts, state, new notifications, which are shown and returned.

        To be called a few times a second.
        """
        if self.supervisor.tick():
            self.write_state()
        notifications = self._inbox.new()
        for notification in notifications:
            self._display.notify(notification)
        return notifications

    def find(self, name: str) -> Supervised | None:
        """Return a program of the chain by its name."""
        for one in self.supervisor.supervised:
            if one.component.name == name:
                return one
        return None

    def url(self, name: str) -> str:
        """Return the root URL of a program; the server's also where it is not the chain's own."""
        one = self.find(name)
        return one.component.url if one else chain.vllm_url(self.options)

    def pages(self) -> list[tuple[str, str]]:
        """Return what a person may open now, with what it shows.

        Debian's Prometheus comes without its web pages, so each is tried.
        """
        prometheus = self.url("prometheus")
        candidates = [
            (f"{prometheus}/consoles/{configuration.CONSOLE}", "both gauges and the alerts"),
            (f"{prometheus}/query", "Prometheus' own pages"),
            (f"{self.url('exporter')}/metrics", "the exporter's metrics"),
            (f"{prometheus}/user/runbooks/VLLMPrefixCacheHitRateLow.md", "a runbook"),
        ]
        pages = [(page, meaning) for page, meaning in candidates if answers(page)]
        if grafana := self.find("grafana"):
            password = self.layout.grafana / "admin-password"
            shown = f"the dashboards (user admin, password in {password})"
            pages.insert(0, (grafana.component.url, shown))
        return pages

    def write_state(self) -> None:
        """Write down what runs, for ``status`` and ``down``."""
        components = tuple(
            state.ComponentState(
                name=one.component.name,
                phase=str(one.phase),
                pid=one.child.pid if one.child else None,
                port=one.component.port,
                url=one.component.url,
                ready_url=one.component.ready_url,
                log=str(one.log_file),
                restarts=one.restarts,
            )
            for one in self.supervisor.supervised
        )
        state.write(
            self.layout.root,
            state.ChainState(
                pid=os.getpid(),
                started_at=self._started_at,
                command=self._command,
                vllm_url=chain.vllm_url(self.options),
                server=chain.server_name(self.options),
                prometheus_url=self.url("prometheus"),
                components=components,
            ),
        )


@contextmanager
def running(
    command: str,
    options: ChainOptions,
    settings: Settings,
    programs: Programs,
    layout: Layout,
    display: Display,
    interrupt: Interrupt,
    policy: RestartPolicy | None = None,
) -> Iterator[RunningChain]:
    """Start the chain; stop it at the end of the block, whatever ends it.

    Args:
        command: What it is, for ``status``.
        options: What to run, and where.
        settings: Thresholds, times and links.
        programs: The files to start.
        layout: Where things lie in the run folder.
        display: Shows what happens.
        interrupt: The wish to stop.
        policy: When to start what has fallen again.

    Raises:
        ChainError: It cannot be started; what had been started is stopped again.
        Interrupted: The user wanted to stop before all was started.
    """
    settings = configuration.native_settings(settings, options.ports)
    with state.locked(layout.root):
        clear_leftovers(layout.root, display)
        try:
            configuration.write(layout, settings, options.ports, chain.vllm_url(options))
            if programs.grafana:
                configuration.write_grafana(layout, settings, options.ports)
            components = chain.components(options, programs, settings, layout)
        except OSError as error:
            raise ChainError(f"{error.filename} cannot be written: {error.strerror}") from None
        if options.simulated_gpu:
            SimulatedGPU(layout.simulated_gpus).reset()
        for component in components:
            ports.check(component)
        guardian = Guardian(layout.logs / "guardian.log")
        supervisor = Supervisor(components, layout.logs, display, guardian, policy)
        chain_running = RunningChain(options, settings, layout, supervisor, display, command)
        supervisor.on_change = chain_running.write_state
        try:
            supervisor.start(interrupt)
            chain_running.write_state()
            yield chain_running
        finally:
            display.still()
            supervisor.stop(interrupt)
            guardian.close()
            state.remove(layout.root)
            display.still()


def clear_leftovers(run_folder: Path, display: Display) -> int:
    """Stop what a chain whose supervisor is gone left behind; return how many programs.

    The caller holds the run folder's lock, or knows that nobody does.
    """
    leftovers = state.read(run_folder)
    if leftovers is None:
        return 0
    stopped = 0
    for one in reversed(leftovers.components):
        if one.pid is not None and stop_session(
            one.pid, _LEFTOVER_SECONDS, since=leftovers.started_at - _CLOCK_SECONDS
        ):
            display.done(f"{one.name}: was left over from a chain that died; stopped")
            stopped += 1
    state.remove(run_folder)
    return stopped
