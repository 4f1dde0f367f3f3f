"""Command line of ``python -m dashboards``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from alerts import command_line
from alerts.settings import Settings
from alerts.usage import WrongUsage, load_settings, settings_option
from dashboards import build as generated
from dashboards.board import render
from dashboards.exporting import portable
from dashboards.grafana_api import Grafana, GrafanaError
from dashboards.preview.command import command as preview
from exporter.parameters import URL, FilePath, NonEmpty, Parsed, shown

_RECORDINGS = Path(__file__).resolve().parents[1] / "tests"
_PAGES = (_RECORDINGS / "recordings", _RECORDINGS / "dashboards" / "pages")

_GRAFANA = "http://127.0.0.1:13000"
_MOST_TOKEN_BYTES = 4096


def _uid(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", text):
        raise ValueError(f"{shown(text)} is no uid: up to 40 letters, digits, - and _")
    return text


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Grafana dashboards of the vLLM monitoring kit."""


@command.command()
@settings_option
@click.option(
    "--output",
    type=FilePath(file=False),
    default=generated.GENERATED,
    help="Folder to write to, instead of dashboards/generated.",
)
def build(settings_file: Path | None, output: Path) -> None:
    """Write the dashboards' JSON, for provisioning and for push."""
    _write(load_settings(settings_file), output, export=False)


@command.command()
@settings_option
@click.option(
    "--output",
    type=FilePath(file=False),
    required=True,
    help="Folder to write to.",
)
def export(settings_file: Path | None, output: Path) -> None:
    """Write the dashboards' JSON for Grafana's import dialog.

    The dialog asks for the data source. Files for provisioning are those of `build`.
    """
    _write(load_settings(settings_file), output, export=True)


@command.command()
@settings_option
@click.option(
    "--pages",
    type=FilePath(file=False),
    multiple=True,
    help="Folder of recorded pages (…/vllm-0.30.0/NAME.txt), instead of the checkout's.",
)
@click.option(
    "--generated",
    "folder",
    type=FilePath(file=False),
    default=generated.GENERATED,
    help="Folder of built dashboards, instead of dashboards/generated.",
)
def check(settings_file: Path | None, pages: tuple[Path, ...], folder: Path) -> None:
    """Check form, queries, references and drift of the dashboards."""
    settings = load_settings(settings_file)
    try:
        from dashboards.checks import everything  # noqa: PLC0415 - needs the extra `dev`
        from dashboards.checks.pages import PagesError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"{error.name} is missing: install the kit with its extra `dev`"
        ) from None
    try:
        found = everything.findings(settings, pages or _PAGES, folder)
    except PagesError as error:
        raise WrongUsage(str(error)) from None
    for finding in found:
        click.echo(finding)
    if found:
        raise click.ClickException(f"{len(found)} findings")
    boards = generated.boards(settings)
    panels = sum(
        panel.to_json_data()["type"] != "row" for board in boards for panel in board.panels
    )
    click.echo(f"{len(boards)} dashboards, {panels} panels: well")


@command.command()
@click.option(
    "--url",
    type=URL(_GRAFANA, query=False),
    required=True,
    help=f"Grafana's URL, such as {_GRAFANA}.",
)
@click.option(
    "--token-file",
    type=FilePath(folder=False),
    required=True,
    help="File that holds nothing but a service account's token.",
)
@click.option(
    "--folder",
    type=Parsed("UID", _uid),
    default="vllm",
    show_default=True,
    help="Uid of the folder.",
)
@click.option(
    "--datasource-uid",
    type=NonEmpty(),
    help="Uid of the data source of boards without variables, instead of grafana.datasource in "
    "the settings.",
)
@settings_option
def push(
    url: str, token_file: Path, folder: str, datasource_uid: str | None, settings_file: Path | None
) -> None:
    """Upload the dashboards through Grafana's HTTP API.

    The folder is made if it is missing; older versions of the dashboards are replaced.
    """
    settings = load_settings(settings_file)
    grafana = Grafana(url, _token(token_file))
    try:
        if grafana.ensure_folder(folder, settings.grafana.folder):
            click.echo(f"folder {folder}: made")
    except GrafanaError as error:
        raise click.ClickException(str(error)) from None
    failed = 0
    for board in generated.boards(settings):
        if board.source_uid is not None and datasource_uid is not None:
            board.source_uid = datasource_uid
        try:
            where = grafana.upload(json.loads(render(board)), folder)
        except GrafanaError as error:
            failed += 1
            click.echo(f"{board.uid}: {error}", err=True)
        else:
            click.echo(f"{board.uid}: {where}")
    if failed:
        raise click.ClickException(f"{failed} dashboards were not uploaded")


command.add_command(preview)


def _write(settings: Settings, output: Path, *, export: bool) -> None:
    try:
        written = generated.write(settings, output, portable if export else render)
    except OSError as error:
        reason = f"{error.filename}: cannot be written: {error.strerror}"
        raise click.ClickException(reason) from None
    for path in written:
        click.echo(path)


def _token(path: Path) -> str:
    try:
        with path.open("rb") as file:
            token = file.read(_MOST_TOKEN_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise WrongUsage(f"{path}: cannot be read: {reason}") from None
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUsage(f"{path}: holds no token; it must hold the token and nothing else")
    return token


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status; see `alerts.command_line.run`."""
    return command_line.run(command, "python -m dashboards", "dashboards", arguments)
