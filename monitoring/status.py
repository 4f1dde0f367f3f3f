"""``python -m monitoring status``: what runs, what it measures, which alerts there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import psutil
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from exporter import catalogue
from monitoring import state
from monitoring.options import run_folder_option
from monitoring.prometheus_api import AlertState, Prometheus, PrometheusError, Target
from monitoring.state import ChainState
from monitoring.supervision.supervisor import Phase, answers

_NOT_REPORTED = "not reported"
_STYLES = {"firing": "bold red", "pending": "yellow", "inactive": "green"}


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


def render(shown: Report) -> Group:
    """Return the report as tables."""
    parts: list[Any] = [
        Text(f"{shown.chain}: monitoring {shown.server}", style="bold"),
        _programs(shown.programs),
    ]
    # A table would fold the paths.
    parts += [
        Text(f"{one.name}: see {one.log}", style="red") for one in shown.programs if not one.is_well
    ]
    if shown.trouble:
        parts.append(Text(shown.trouble, style="bold red"))
        return Group(*parts)
    parts += [
        _targets(shown.targets),
        _readings("Prefix-cache hit rate", shown.hit_rates),
        _readings("GPU memory in use", shown.gpu_memory),
        _alerts(shown.alerts),
    ]
    return Group(*parts)


def _programs(programs: Sequence[ProgramStatus]) -> Table:
    table = _table("Program", "State", "PID", "Port", "Restarts")
    for one in programs:
        style = "green" if one.is_well else "bold red"
        pid = "-" if one.pid is None else str(one.pid)
        table.add_row(one.name, Text(one.state, style), pid, str(one.port), str(one.restarts))
    return table


def _targets(targets: Sequence[Target]) -> Table:
    table = _table("Scraped by Prometheus", "Address", "Health", "Error")
    for one in targets:
        style = "green" if one.health == "up" else "bold red"
        table.add_row(one.job, one.address, Text(one.health, style), Text(one.error))
    return table


def _readings(title: str, readings: Sequence[Reading]) -> Table:
    table = _table(title, "Now")
    for one in readings:
        value = _NOT_REPORTED if one.value is None else f"{one.value:.3f}"
        table.add_row(Text(one.subject), value)
    return table


def _alerts(alerts: Sequence[AlertState]) -> Table:
    table = _table("Alert", "Severity", "State", "Since", "About")
    for one in alerts:
        about = "  ".join(
            f"{name}={value}"
            for name, value in one.labels.items()
            if name not in ("alertname", "severity")
        )
        since = one.since.partition(".")[0].replace("T", " ") + " UTC" if one.since else ""
        state_text = Text(one.state, _STYLES.get(one.state, ""))
        table.add_row(one.name, one.severity, state_text, since, Text(about))
    return table


def _table(*columns: str) -> Table:
    table = Table(header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@run_folder_option
def command(*, as_json: bool, run_dir: Path) -> int:
    """Show programs, targets, both gauges and the alerts; 0 if all is well, else 1."""
    chain = state.read(run_dir)
    if chain is None or not state.is_running(run_dir):
        if as_json:
            click.echo(json.dumps({"running": False}))
        hint = (
            "start it with `python -m monitoring up`"
            if chain is None
            else "its supervisor died; `python -m monitoring down` clears up what it left"
        )
        click.echo(f"no chain runs in {run_dir}: {hint}", err=True)
        return 1
    shown = report(chain, Prometheus(chain.prometheus_url))
    if as_json:
        click.echo(json.dumps({"running": True, "well": shown.is_well, **asdict(shown)}, indent=1))
    else:
        Console().print(render(shown))
    return 0 if shown.is_well else 1
