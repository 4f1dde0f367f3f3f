"""Command line of ``python -m alerts``."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from alerts import build as generated
from alerts import catalogue, command_line
from alerts.usage import load_settings, settings_option
from exporter.parameters import FilePath


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Alerts of the vLLM monitoring kit: build the rule files, or list what is in them."""


@command.command()
@settings_option
@click.option(
    "--output",
    type=FilePath(file=False),
    default=generated.GENERATED,
    help="Folder to write to, instead of alerts/generated.",
)
def build(settings_file: Path | None, output: Path) -> None:
    """Write the rule files."""
    settings = load_settings(settings_file)
    try:
        written = generated.write(settings, output)
    except OSError as error:
        reason = f"{error.filename}: cannot be written: {error.strerror}"
        raise click.ClickException(reason) from None
    for path in written:
        click.echo(path)


@command.command("list")
@settings_option
def list_alerts(settings_file: Path | None) -> None:
    """Print a table of all alerts."""
    settings = load_settings(settings_file)
    table = Table(header_style="bold")
    table.add_column("Alert", no_wrap=True)  # to be searched for, and copied
    for column in ("Condition", "For", "Severity", "Meaning"):
        table.add_column(column, overflow="fold")
    for alert in catalogue.alerts(settings):
        table.add_row(
            alert.name,
            Text(alert.measure.condition),
            str(alert.terms.pending) if alert.terms.pending.seconds else "-",
            alert.terms.severity,
            Text(alert.text.summary),
        )
    Console().print(table)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status; see `alerts.command_line.run`."""
    return command_line.run(command, "python -m alerts", "alerts", arguments)
