"""The results as a table, as Markdown and as JSON, and against their targets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from tests.benchmarks.exporter.measurement import Result

MIB = 1024**2
HEADINGS = (
    "exporter",
    "scrapes",
    "added p50",
    "added p99",
    "CPU a scrape",
    "RSS ready",
    "RSS after 100",
    "RSS at end",
    "start to ready",
    "import",
)


@dataclass(frozen=True)
class Verdict:
    """One target and what was measured."""

    target: str
    measured: str
    met: bool


def rows(results: Sequence[Result], missing: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the table's cells, one row for each exporter."""
    found = [
        (
            result.name,
            f"{result.scrapes}",
            _ms(result.p50),
            _ms(result.p99),
            _ms(result.cpu),
            *(_mib(memory) for memory in (result.rss_ready, result.rss_warm, result.rss_end)),
            f"{result.start:.2f} s",
            f"{result.imported:.2f} s",
        )
        for result in results
    ]
    blank = ("",) * (len(HEADINGS) - 2)
    return found + [(name, reason, *blank) for name, reason in missing.items()]


def verdicts(results: Sequence[Result]) -> list[Verdict]:
    """Compare with the targets; only what was measured is judged."""
    by_name = {result.name: result for result in results}
    found = []
    eight, one = by_name.get("this exporter, 8 GPUs"), by_name.get("this exporter, 1 GPU")
    full = by_name.get("plain exporter, full parse")
    many = by_name.get("this exporter, 64 servers of 10 ms")
    if eight:
        found += [
            Verdict("added p50 under 5 ms, 8 GPUs", _ms(eight.p50), eight.p50 < 0.005),
            Verdict("CPU a scrape under 5 ms, 8 GPUs", _ms(eight.cpu), eight.cpu < 0.005),
        ]
    if one and full:
        share = one.cpu / full.cpu
        found.append(Verdict("at most 20 % of the full parse's CPU", f"{share:.0%}", share <= 0.2))
    if one and eight:
        largest = max(one.rss_end, eight.rss_end)
        growth = max(one.rss_end - one.rss_warm, eight.rss_end - eight.rss_warm)
        scrapes = min(one.scrapes, eight.scrapes)
        found += [
            Verdict("RSS under 60 MiB", _mib(largest), largest < 60 * MIB),
            Verdict(f"RSS flat within 2 MiB over {scrapes}", _mib(growth), growth <= 2 * MIB),
            Verdict("ready in under 1 s", f"{one.start:.2f} s", one.start < 1.0),
        ]
    if many:
        met = many.total_p50 < 0.100
        found.append(Verdict("64 servers of 10 ms in under 100 ms", _ms(many.total_p50), met))
    return found


def table(results: Sequence[Result], missing: Mapping[str, str]) -> Table:
    """Return the results for a terminal."""
    shown = Table(*HEADINGS, title="A scrape, on loopback")
    for row in rows(results, missing):
        shown.add_row(*row)
    return shown


def verdict_table(found: Sequence[Verdict]) -> Table:
    """Return the targets for a terminal."""
    shown = Table("target", "measured", "met")
    for verdict in found:
        shown.add_row(verdict.target, verdict.measured, "yes" if verdict.met else "no")
    return shown


def markdown(results: Sequence[Result], missing: Mapping[str, str]) -> str:
    """Return results and targets as two Markdown tables."""
    lines = [_line(HEADINGS), _line(["---", *["---:"] * (len(HEADINGS) - 1)])]
    lines += [_line(row) for row in rows(results, missing)]
    lines += ["", _line(["target", "measured", "met"]), _line(["---", "---:", "---"])]
    lines += [
        _line([verdict.target, verdict.measured, "yes" if verdict.met else "no"])
        for verdict in verdicts(results)
    ]
    return "\n".join(lines) + "\n"


def as_json(results: Sequence[Result], missing: Mapping[str, str]) -> str:
    """Return results and targets as JSON; times in seconds, memory in bytes."""
    content = {
        "results": [asdict(result) for result in results],
        "missing": dict(missing),
        "targets": [asdict(verdict) for verdict in verdicts(results)],
    }
    return json.dumps(content, indent=2) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def _mib(memory: int) -> str:
    return f"{memory / MIB:.1f} MiB"
