"""``python -m monitoring drill``."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from alerts.delivery import WATCHDOG
from alerts.settings import load
from exporter.addresses import ListenAddress, parse_free_address
from exporter.parameters import URL, FilePath, Parsed
from monitoring import state
from monitoring.drill.alertmanager_api import Alertmanager, AlertmanagerError
from monitoring.drill.drill import Chain, Result, run
from monitoring.options import run_folder_option
from monitoring.prometheus_api import Prometheus, PrometheusError
from monitoring.supervision.errors import ChainError

ALERTS = tuple(name for name in load().alerts if name != WATCHDOG)


@click.command("drill")
@click.argument("alerts", nargs=-1, type=click.Choice(ALERTS), metavar="ALERT…")
@run_folder_option
@click.option("--prometheus", type=URL(), metavar="URL", help="Prometheus, if not that of `up`.")
@click.option(
    "--alertmanager", type=URL(), metavar="URL", help="Alertmanager, if not that of `up`."
)
@click.option(
    "--targets",
    type=FilePath(file=False),
    help="Folder of Prometheus' target files, if not that of `up`.",
)
@click.option(
    "--notifications",
    type=FilePath(folder=False),
    help="File of the kit's receiver. Without it, Alertmanager's own counts are the proof.",
)
@click.option(
    "--listen",
    "address",
    type=Parsed("HOST:PORT", parse_free_address),
    default="127.0.0.1:0",
    show_default=True,
    metavar="HOST:PORT",
    help="Where the made-up targets listen; Prometheus must reach it by this name.",
)
def command(
    alerts: tuple[str, ...],
    run_dir: Path,
    prometheus: str | None,
    alertmanager: str | None,
    targets: Path | None,
    notifications: Path | None,
    address: ListenAddress,
) -> int:
    """Make ALERT's condition true on made-up targets, and time its notification.

    The alerts of a drill carry the label drill="yes". Real servers are not touched.
    """
    if not alerts:
        raise click.UsageError("name the alerts to drill, such as VLLMServerDown")
    if not address.host:
        raise click.UsageError(f"--listen {address} needs a host that Prometheus reaches")
    chain = _chain(run_dir, prometheus, alertmanager, targets, notifications, str(address))
    console = Console(stderr=True)
    results = []
    for name in alerts:
        try:
            results.append(run(name, chain, lambda text: console.print(text, highlight=False)))
        except (PrometheusError, AlertmanagerError) as error:
            raise ChainError(str(error)) from None
    Console().print(_table(results))
    return 0


def _chain(
    run_dir: Path,
    prometheus: str | None,
    alertmanager: str | None,
    targets: Path | None,
    notifications: Path | None,
    address: str,
) -> Chain:
    running = state.read(run_dir)
    if running is not None:
        urls = {one.name: one.url for one in running.components}
        prometheus = prometheus or running.prometheus_url
        alertmanager = alertmanager or urls.get("alertmanager")
        targets = targets or run_dir / "prometheus" / "targets"
        if notifications is None:
            kept = run_dir / running.command / "notifications.jsonl"
            usual = run_dir / "data" / "notifications.jsonl"
            notifications = next((file for file in (kept, usual) if file.is_file()), None)
    if not (prometheus and alertmanager and targets):
        raise ChainError(
            f"no chain runs in {run_dir}: start one with `python -m monitoring up`, or name yours "
            "with --prometheus, --alertmanager and --targets"
        )
    return Chain(
        Prometheus(prometheus),
        Alertmanager(alertmanager),
        targets,
        notifications,
        address,
    )


def _table(results: list[Result]) -> Table:
    table = Table(title="Seconds after the fault", header_style="bold")
    table.add_column("Alert", no_wrap=True)
    for column in ("due at the earliest", "firing", "told", "proof"):
        table.add_column(column, overflow="fold")
    for one in results:
        table.add_row(
            one.alert,
            f"{one.bound.least:g} (for {one.bound.pending:g} + group_wait "
            f"{one.bound.group_wait:g})",
            f"{one.firing:.1f}",
            f"{one.told:.1f}",
            one.proof,
        )
    return table
