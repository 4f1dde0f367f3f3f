"""Command line of the preview, for ``python -m dashboards``."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import click

from alerts.command_line import reason
from alerts.usage import load_settings
from dashboards.preview import bundle
from dashboards.preview.boards import read
from dashboards.preview.proxy import shown
from dashboards.preview.server import Application, Source, server
from exporter.addresses import ListenAddress, parse_free_address
from exporter.parameters import URL, FilePath, Parsed

GENERATED = Path(__file__).resolve().parents[1] / "generated"
_PROMETHEUS = "http://127.0.0.1:19090"
LISTEN = "127.0.0.1:13000"


@click.command("preview")
@click.option(
    "--prometheus", metavar="URL", type=URL(_PROMETHEUS, query=False), help="Prometheus to ask."
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=LISTEN,
    show_default=True,
    type=Parsed("HOST:PORT", parse_free_address),
    help="Where to serve the page.",
)
@click.option(
    "--dashboards",
    "folder",
    type=FilePath(),
    default=GENERATED,
    help="Folder of dashboards to show, instead of dashboards/generated.",
)
@click.option(
    "--settings",
    "settings_file",
    type=FilePath(),
    help="File whose keys replace those of alerts/settings.yml; only intervals.scrape counts.",
)
@click.option(
    "--build-only", is_flag=True, help="Build the page where that is still to do, then stop."
)
def command(
    prometheus: str | None,
    listen: ListenAddress,
    folder: Path,
    settings_file: Path | None,
    build_only: bool,
) -> None:
    """Show the dashboards on a page of the kit's own, without Grafana.

    It is a preview: the page lists what it does not do. It needs Node.js and npm once, to be built.
    """
    if prometheus is None and not build_only:
        raise click.UsageError(f"say which Prometheus to ask: --prometheus {_PROMETHEUS}")
    if not build_only and not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder of dashboards: see --dashboards")
    interval = str(load_settings(settings_file).intervals.scrape)
    try:
        site = bundle.ensure(bundle.default_folder(), lambda line: click.echo(line, err=True))
    except bundle.BundleError as error:
        raise click.ClickException(str(error)) from None
    if prometheus is None or build_only:
        click.echo(f"preview: the page is built in {site}")
        return
    _serve(Source(prometheus, interval, folder, site), listen)


def _serve(source: Source, listen: ListenAddress) -> None:
    host = listen.host or "0.0.0.0"  # noqa: S104 - an empty host asks for it
    try:
        http = server(Application(source), host, listen.port)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {listen}: {reason(error)}; choose another address with --listen"
        ) from None
    count = len(read(source.folder))
    shown_host = f"[{host}]" if ":" in host else host
    click.echo(
        f"preview: {count} dashboards on http://{shown_host}:{http.bind_addr[1]}/ "
        f"from Prometheus at {shown(source.prometheus)}; stop it with Ctrl-C"
    )

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        http.serve()
    except KeyboardInterrupt:
        pass
    finally:
        http.stop()
