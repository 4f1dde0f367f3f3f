"""Writes Alertmanager's configuration with its templates."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import get_args

import click

from alerts.command_line import run
from alerts.prometheus import dump
from alerts.settings import Language, Settings
from alerts.usage import load_settings, settings_option
from exporter.parameters import FilePath
from monitoring.alertmanager import configuration, messages
from monitoring.alertmanager.receivers import Surroundings

_HEADER = "# Written by `python -m monitoring.alertmanager.build` from the settings; do not edit.\n"

COMPOSE = Surroundings(
    secrets="/run/secrets/notification",
    kit="http://receiver:19095/notifications",
    relay="http://relay:19096",
)
"""Addresses inside docker compose."""


def rendered(settings: Settings, surroundings: Surroundings) -> dict[str, str]:
    """Return the text of each file by its path below the folder of the configuration."""
    files = {"alertmanager.yml": _HEADER + dump(configuration.document(settings, surroundings))}
    for language in get_args(Language):
        name = f"templates/{messages.file_name(language)}"
        files[name] = messages.render(language, settings)
    return files


def write(settings: Settings, surroundings: Surroundings, folder: Path) -> list[Path]:
    """Write all files into ``folder``, made if missing, and return their paths."""
    paths = []
    for name, text in rendered(settings, surroundings).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@settings_option
@click.option(
    "--output",
    type=FilePath(file=False),
    default=Path(__file__).parent,
    help="Folder to write to, instead of monitoring/alertmanager.",
)
@click.option("--secrets", default=COMPOSE.secrets, show_default=True, help="Folder of secrets.")
@click.option("--kit", default=COMPOSE.kit, show_default=True, help="URL of the kit's receiver.")
@click.option("--relay", default=COMPOSE.relay, show_default=True, help="Root URL of the relay.")
def command(settings_file: Path | None, output: Path, secrets: str, kit: str, relay: str) -> None:
    """Write alertmanager.yml and templates, by default those for docker compose."""
    settings = load_settings(settings_file)
    try:
        written = write(settings, Surroundings(secrets, kit, relay), output)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise click.ClickException(f"{error.filename}: cannot be written: {reason}") from None
    for path in written:
        click.echo(path)


if __name__ == "__main__":
    sys.exit(run(command, "python -m monitoring.alertmanager.build", "alertmanager"))
