"""The command behind ``make bench-exporter``; ``python -m tests.benchmarks.exporter``."""

from __future__ import annotations

import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from tests.benchmarks.exporter import report
from tests.benchmarks.exporter.measurement import measure
from tests.benchmarks.exporter.process import Process, StartError
from tests.benchmarks.exporter.subjects import DELAY_SECONDS, all_subjects

_PAGE = Path("tests/recordings/synthetic-vllm-0.30.0/metrics-full.txt")
_TABLE_COLUMNS = 150
"""Narrower, and the table's cells would be cut."""

_ROOT = Path(__file__).resolve().parents[3]


@click.command()
@click.option("--scrapes", default=10_000, show_default=True, help="Scrapes of each other.")
@click.option(
    "--dear-scrapes",
    default=1_000,
    show_default=True,
    help="Scrapes of the full parse, and of those whose servers take 10 ms.",
)
@click.option("--only", default="", help="Only exporters whose name contains this.")
@click.option("--page", default=_ROOT / _PAGE, type=click.Path(exists=True, path_type=Path))
@click.option("--markdown", type=click.Path(path_type=Path), help="File for the tables.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="File for the figures.")
@click.option("--check", is_flag=True, help="Exit with 1 if a target is missed.")
def main(
    scrapes: int,
    dear_scrapes: int,
    only: str,
    page: Path,
    markdown: Path | None,
    json_file: Path | None,
    check: bool,
) -> None:
    """Measure what a scrape of the exporter costs, beside the alternatives, on this machine."""
    console = Console()
    # An exception, so that what was started here ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        try:
            standins = []
            for delay in (0.0, DELAY_SECONDS):
                process = Process(_standin(page, delay), "/ready/metrics")
                stack.callback(process.stop)
                standins.append(process)
            subjects, missing = all_subjects(Path(folder), standins[0].port, standins[1].port)
            subjects = [subject for subject in subjects if only in subject.name]
            with console.status("starting") as status:
                results = measure(
                    subjects, standins[0], standins[1], scrapes, dear_scrapes, status.update
                )
        except StartError as error:
            print(error, file=sys.stderr)
            sys.exit(1)
    found = report.verdicts(results)
    if console.width < _TABLE_COLUMNS:
        print(report.markdown(results, missing))
    else:
        console.print(report.table(results, missing))
        console.print(report.verdict_table(found))
    if markdown:
        markdown.write_text(report.markdown(results, missing), encoding="utf-8")
    if json_file:
        json_file.write_text(report.as_json(results, missing), encoding="utf-8")
    sys.exit(1 if check and not all(verdict.met for verdict in found) else 0)


def _standin(page: Path, delay: float) -> tuple[str, ...]:
    return (
        *(sys.executable, "-m", "tests.benchmarks.exporter.standin", "--port", "{port}"),
        *("--page", str(page), "--delay", f"{delay:g}"),
    )


if __name__ == "__main__":
    main()
