"""``python -m monitoring status``: what runs, what it measures, which alerts there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from monitoring import state
from monitoring.options import run_folder_option
from monitoring.prometheus_api import AlertState, Prometheus, Target
from monitoring.report import ProgramStatus, Reading, Report, report

_NOT_REPORTED = "not reported"
_INACTIVE = "inactive"
_STYLES = {"firing": "bold red", "pending": "yellow"}


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
        _alerts([one for one in shown.alerts if one.state != _INACTIVE]),
    ]
    if inactive := sum(one.state == _INACTIVE for one in shown.alerts):
        parts.append(Text(f"{inactive} more are {_INACTIVE}", style="green"))
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
    for one in sorted(alerts, key=lambda one: one.state):  # what fires, then what is pending
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
    # Names are looked for and copied: a narrow screen folds what stands beside them.
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
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
