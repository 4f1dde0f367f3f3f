"""Command line of ``python -m dashboards``."""

from __future__ import annotations

from pathlib import Path

import click

from alerts.settings import SettingsError, load
from dashboards import build as generated


class _BadSettings(click.ClickException):
    """What the user passed is at fault, so the exit code is that of wrong usage."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Grafana dashboards of the vLLM monitoring kit."""


@command.command()
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(path_type=Path),
    help="File whose keys replace those of alerts/settings.yml.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=generated.GENERATED,
    help="Folder to write to, instead of dashboards/generated.",
)
def build(settings_file: Path | None, output: Path) -> None:
    """Write the dashboards' JSON."""
    try:
        settings = load(settings_file)
        written = generated.write(settings, output)
    except SettingsError as error:
        raise _BadSettings(str(error)) from None
    except OSError as error:
        reason = f"{error.filename}: cannot be written: {error.strerror}"
        raise click.ClickException(reason) from None
    for path in written:
        click.echo(path)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 1 for what failed, 2 for wrong usage."""
    try:
        command.main(arguments, prog_name="python -m dashboards", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"dashboards: {error.format_message()}", err=True)
        return error.exit_code
    except click.Abort:
        return 1
    return 0
