"""How a running chain fares: its programs, Prometheus' targets, the two gauges and the alerts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import psutil

from exporter import catalogue
from monitoring import state
from monitoring.prometheus_api import AlertState, Prometheus, PrometheusError, Target
from monitoring.state import ChainState
from monitoring.supervision.supervisor import Phase, answers


@dataclass(frozen=True)
class ProgramStatus:
    """One program: whether it runs and answers.

    Attributes:
        name: Its name.
        pid: Its process ID; None while it does not run.
        port: Port on which it listens.
        state: ``ready``, ``not answering``, or its phase where it is not running.
        restarts: How often it was started again.
        log: Its log.
    """

    name: str
    pid: int | None
    port: int
    state: str
    restarts: int
    log: str

    @property
    def is_well(self) -> bool:
        """Whether it does its work."""
        return self.state == "ready"


@dataclass(frozen=True)
class Reading:
    """One gauge of one server and model, or of one GPU.

    Attributes:
        subject: What it is about.
        value: The share (0..1); None while it is not reported, which is not 0.
    """

    subject: str
    value: float | None


@dataclass(frozen=True)
class Report:
    """All that ``status`` shows.

    Attributes:
        chain: ``up`` or ``demo``.
        server: The monitored server.
        programs: The chain's programs.
        targets: Prometheus' targets.
        hit_rates: Prefix-cache hit rates.
        gpu_memory: GPU memory in use.
        alerts: The alerts.
        trouble: Why Prometheus could not be asked; empty if it could.
    """

    chain: str
    server: str
    programs: tuple[ProgramStatus, ...]
    targets: tuple[Target, ...]
    hit_rates: tuple[Reading, ...]
    gpu_memory: tuple[Reading, ...]
    alerts: tuple[AlertState, ...]
    trouble: str

    @property
    def is_well(self) -> bool:
        """Whether everything runs and is scraped. Firing alerts are no fault of the chain."""
        return (
            not self.trouble
            and all(one.is_well for one in self.programs)
            # Just started, Prometheus knows no targets yet.
            and bool(self.targets)
            and all(one.health == "up" for one in self.targets)
        )


def program_status(
    component: state.ComponentState, is_ready: Callable[[str], bool] = answers
) -> ProgramStatus:
    """Return how a program fares, by its process and its answer."""
    runs = component.pid is not None and psutil.pid_exists(component.pid)
    if runs:
        condition = "ready" if is_ready(component.ready_url) else "not answering"
    elif component.phase in (Phase.RUNNING, Phase.STARTING):
        condition = "gone"
    else:
        condition = component.phase
    return ProgramStatus(
        name=component.name,
        pid=component.pid if runs else None,
        port=component.port,
        state=condition,
        restarts=component.restarts,
        log=component.log,
    )


def report(
    chain: ChainState, prometheus: Prometheus, is_ready: Callable[[str], bool] = answers
) -> Report:
    """Ask all programs, and Prometheus for the rest."""
    programs = tuple(program_status(one, is_ready) for one in chain.components)
    trouble = ""
    targets: tuple[Target, ...] = ()
    hit_rates: tuple[Reading, ...] = ()
    memory: tuple[Reading, ...] = ()
    alerts: tuple[AlertState, ...] = ()
    try:
        targets = tuple(prometheus.targets())
        hit_rates = _hit_rates(prometheus, chain.server)
        memory = _gpu_memory(prometheus)
        alerts = tuple(prometheus.alerts())
    except PrometheusError as error:
        trouble = str(error)
    return Report(
        chain.command, chain.server, programs, targets, hit_rates, memory, alerts, trouble
    )


def _hit_rates(prometheus: Prometheus, server: str) -> tuple[Reading, ...]:
    samples = prometheus.query(catalogue.PREFIX_CACHE_HIT_RATE.name)
    readings = [
        Reading(f"{one.labels.get('server')}, {one.labels.get('model_name')}", one.value)
        for one in samples
    ]
    return tuple(readings) or (Reading(server, None),)


def _gpu_memory(prometheus: Prometheus) -> tuple[Reading, ...]:
    names = {
        one.labels.get("uuid"): f"{one.labels.get('name')} [{one.labels.get('backend')}]"
        for one in prometheus.query(catalogue.GPU_INFO.name)
    }
    samples = prometheus.query(catalogue.GPU_MEMORY_USAGE.name)
    readings = [
        Reading(f"GPU {one.labels.get('gpu')}, {names.get(one.labels.get('uuid'), '?')}", one.value)
        for one in samples
    ]
    return tuple(readings) or (Reading("GPU", None),)
