"""``python -m monitoring advise``: what to change, from what was seen."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from alerts.usage import WrongUsage, load_settings, settings_option
from exporter.addresses import default_server_name, redacted
from exporter.exposition import Page
from exporter.parameters import URL, NonEmpty, Number, Whole
from monitoring import metrics_page, state
from monitoring.advise import pages, prometheus, table
from monitoring.advise.advice import advise
from monitoring.advise.finding import Finding
from monitoring.advise.limits import from_settings
from monitoring.advise.observation import Observation
from monitoring.options import run_folder_option
from monitoring.supervision.errors import ChainError

FOUND = 3
FETCH_SECONDS = 10.0
DEFAULT_PROMETHEUS = "http://127.0.0.1:19090"


@click.command("advise")
@click.option(
    "--prometheus",
    "prometheus_url",
    type=URL(),
    metavar="URL",
    help="Prometheus that scrapes the server and the exporter, if not that of `up`.",
)
@run_folder_option
@click.option(
    "--minutes",
    type=Number(0.5, 1440),
    default=10,
    show_default=True,
    help="How far to look back.",
)
@click.option("--server", type=NonEmpty(), help="Only this server, by its label; default: all.")
@click.option("--vllm-url", type=URL(), help="Observe this server directly instead, for --seconds.")
@click.option("--exporter-url", type=URL(), help="With --vllm-url: the exporter, for GPU memory.")
@click.option(
    "--seconds",
    type=Whole(2, 3600),
    default=30,
    show_default=True,
    help="With --vllm-url: how long to watch.",
)
@click.option("--max-num-seqs", type=Whole(), help="As the server was started.")
@click.option("--max-num-batched-tokens", type=Whole(), help="As the server was started.")
@click.option("--block-tokens", type=Whole(), help="Step of hits that smoke found.")
@settings_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    prometheus_url: str | None,
    run_dir: Path,
    minutes: float,
    server: str | None,
    vllm_url: str | None,
    exporter_url: str | None,
    seconds: int,
    settings_file: Path | None,
    *,
    as_json: bool,
    **told: int | None,
) -> None:
    """Print what to change on a server, the most urgent first: evidence, cause, flag, cost.

    vLLM does not tell its --max-num-seqs and --max-num-batched-tokens; give them to get exact
    values.

    Exit codes: 0 nothing to change; 1 nothing could be observed; 2 wrong usage; 3 findings.
    """
    limits = from_settings(load_settings(settings_file))
    if exporter_url and not vllm_url:
        raise WrongUsage("--exporter-url goes with --vllm-url; Prometheus has both already")
    try:
        if vllm_url:
            observations = [_watch(vllm_url, exporter_url, seconds, quiet=as_json)]
        else:
            query = prometheus.query_of(prometheus_url or _own_prometheus(run_dir))
            observations = prometheus.observe(query, minutes, server)
    except (prometheus.SourceError, ChainError) as error:
        raise click.ClickException(str(error)) from None
    observations = [_with_told(each, told) for each in observations]
    results = [(each, advise(each, limits)) for each in observations]
    if as_json:
        click.echo(json.dumps([_as_data(*each) for each in results], indent=2))
    else:
        console = Console()
        for seen, findings in results:
            table.print_findings(console, seen, findings)
    sys.exit(FOUND if any(findings for _, findings in results) else 0)


def _own_prometheus(run_dir: Path) -> str:
    """Return the URL of the running chain's Prometheus; where it would be, without a chain."""
    chain = state.read(run_dir)
    return chain.prometheus_url if chain else DEFAULT_PROMETHEUS


def _as_data(seen: Observation, findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "observation": asdict(seen) | {"hit_rate": seen.hit_rate},
        "findings": [finding.as_data() for finding in findings],
    }


def _with_told(seen: Observation, told: dict[str, int | None]) -> Observation:
    before = seen.configuration
    after = replace(
        before,
        max_num_seqs=told["max_num_seqs"],
        max_num_batched_tokens=told["max_num_batched_tokens"],
        block_tokens=told["block_tokens"] or before.block_tokens,
    )
    return replace(seen, configuration=after)


def _page(url: str) -> Page:
    try:
        return pages.read(metrics_page.fetch(url, FETCH_SECONDS))
    except metrics_page.PageError as error:
        raise prometheus.SourceError(str(error)) from None


def _watch(vllm_url: str, exporter_url: str | None, seconds: int, *, quiet: bool) -> Observation:
    """Read the pages once a second."""
    start = time.monotonic()
    server_pages, exporter_pages = [], []
    steps = range(seconds + 1)
    progress = Console(stderr=True)
    hidden = quiet or not progress.is_terminal
    for step in track(
        steps, description="watching", console=progress, disable=hidden, transient=True
    ):
        time.sleep(max(0.0, start + step - time.monotonic()))
        server_pages.append(_page(vllm_url))
        if not any(sample.name == pages.CACHE_CONFIG for sample in server_pages[-1].samples):
            raise prometheus.SourceError(
                f"{redacted(vllm_url)} shows no vLLM metrics: is it vLLM, and without "
                "--disable-log-stats?"
            )
        if exporter_url:
            exporter_pages.append(_page(exporter_url))
    name = default_server_name(vllm_url)
    return pages.observe(name, server_pages, exporter_pages, time.monotonic() - start)
