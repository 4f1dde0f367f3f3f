"""What the commands that read the alerts' settings have in common."""

from __future__ import annotations

from pathlib import Path

import click

from alerts.settings import Settings, SettingsError, load
from exporter.parameters import FilePath

settings_option = click.option(
    "--settings",
    "settings_file",
    type=FilePath(),
    help="File whose keys replace those of alerts/settings.yml.",
)


class WrongUsage(click.ClickException):
    """One line that says what to change; ends with exit code 2, as click's own usage errors do."""

    exit_code = 2


def load_settings(path: Path | None) -> Settings:
    """Return the settings in force.

    Args:
        path: File whose keys replace the kit's own; None for none.

    Raises:
        WrongUsage: The file cannot be used.
    """
    try:
        return load(path)
    except SettingsError as error:
        raise WrongUsage(str(error)) from None
