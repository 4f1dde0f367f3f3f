"""The report: Markdown for people, JSON for programs, a plot."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from monitoring.bench.comparison import Comparison, best
from monitoring.bench.measurement import Point, Spread
from monitoring.bench.plot import draw

MARKDOWN, DATA, PLOT = "report.md", "report.json", "report.svg"

MEASUREMENTS_NOTE = (
    "Median over the repeats of each repeat's median, with the least and the most of them; p99 of "
    "all repeats together. Prompt: its tokens as the server counted them. Times in ms. Hit rate: "
    "from vLLM's counters over these requests; gauges: what the exporter said at the end (its "
    "window is longer) and its highest memory."
)

SPLIT_NOTE = (
    "Means over the requests of all repeats, ms; exact, from the sums of vLLM's histograms. On the "
    "way: outside vLLM's clock (HTTP, JSON, both event loops). Before the engine: text is "
    "tokenized, blocks are hashed; passing the token on is in it too. Queue and prefill: the "
    "engine's."
)

AGREEMENTS_NOTE = (
    "First repeat, ms: the client's clock against vLLM's own histograms over the same requests. Of "
    "a quantile the server knows the bucket only."
)


@dataclass(frozen=True)
class Report:
    """What a benchmark found.

    Attributes:
        title: What was compared.
        facts: What a reader needs to repeat it, by name.
        points: All measurements.
        comparisons: Pairs with and without caching.
        sweep: Whether points differ in the server's flags, so that one of them is the best.
    """

    title: str
    facts: dict[str, str]
    points: Sequence[Point]
    comparisons: Sequence[Comparison]
    sweep: bool = False


def write(report: Report, folder: Path) -> list[Path]:
    """Write the three files; returns their paths.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plot = draw(report.points, report.comparisons)
    contents = {
        MARKDOWN: markdown(report, with_plot=bool(plot)),
        DATA: json.dumps(as_data(report), indent=1) + "\n",
    }
    if plot:
        contents[PLOT] = plot
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def markdown(report: Report, *, with_plot: bool = False) -> str:
    """Return the report as Markdown."""
    lines = [f"# {report.title}", ""]
    lines += [f"- {name}: {value}" for name, value in report.facts.items()]
    if with_plot:
        lines += ["", f"![Time to first token and throughput]({PLOT})"]
    if report.comparisons:
        lines += ["", "## With caching against without", "", *_comparisons(report.comparisons)]
    lines += ["", "## Measurements", "", *_points(report)]
    lines += _splits(report.points)
    lines += ["", "## Client and server", "", *_agreements(report.points)]
    return "\n".join(lines) + "\n"


def _comparisons(comparisons: Sequence[Comparison]) -> list[str]:
    return _table(
        ("prefix", "at once", "prompts", "TTFT without", "TTFT with", "less", "tokens/s", "times"),
        [
            (
                f"{each.prefix_tokens}",
                f"{each.concurrency}",
                each.prompts,
                _milliseconds(each.without.first),
                _milliseconds(each.with_caching.first),
                f"{100 * each.first_saved:.0f} %",
                _change(each.without.output_rate.median, each.with_caching.output_rate.median),
                f"{each.rate_factor:.2f}",
            )
            for each in comparisons
        ],
    )


def _points(report: Report) -> list[str]:
    marked = best(report.points) if report.sweep else None
    rows = []
    for point in report.points:
        gauges = point.runs[-1].gauges
        setting = f"**{point.setting}** (best)" if point is marked else point.setting
        rows.append(
            (
                setting,
                point.scenario.name,
                _lengths(point.prompt_tokens),
                _milliseconds(point.first),
                f"{1000 * point.first_p99:.1f}",
                _milliseconds(point.gap),
                f"{1000 * point.gap_p99:.1f}",
                _plain(point.output_rate),
                _share(point.hit_rate),
                _share(gauges.hit_rate),
                _share(gauges.memory_usage),
            )
        )
    header = (
        *("server", "load", "prompt", "TTFT", "p99", "ITL", "p99", "tokens/s", "hit rate"),
        *("gauge: hit rate", "gauge: memory"),
    )
    return [MEASUREMENTS_NOTE, "", *_table(header, rows)]


def _splits(points: Sequence[Point]) -> list[str]:
    """Return the section with its heading; nothing where no server told the parts."""
    rows = [
        (
            point.setting,
            point.scenario.name,
            f"{parts.requests}",
            *(
                f"{1000 * each:.1f}"
                for each in (parts.first, parts.way, parts.entrance, parts.queue, parts.prefill)
            ),
        )
        for point in points
        if (parts := point.split)
    ]
    if not rows:
        return []
    header = (
        *("server", "load", "requests", "TTFT", "on the way", "before the engine", "queue"),
        "prefill",
    )
    return ["", "## Where the time to first token goes", "", SPLIT_NOTE, "", *_table(header, rows)]


def _agreements(points: Sequence[Point]) -> list[str]:
    rows = [
        (
            point.setting,
            point.scenario.name,
            each.name,
            f"{1000 * each.client:.1f}",
            f"{1000 * each.low:.1f}"
            + ("" if each.low == each.high else f" to {1000 * each.high:.0f}"),
            "yes" if each.agrees else "**no**",
        )
        for point in points
        for each in point.agreements
    ]
    if not rows:
        return ["The server shows no histograms of vLLM, so there is nothing to compare with."]
    header = ("server", "load", "figure", "client", "server", "agree")
    return [AGREEMENTS_NOTE, "", *_table(header, rows)]


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as plain data; times in seconds, all single values left out."""
    return {
        "title": report.title,
        "facts": report.facts,
        "points": [_point_data(point) for point in report.points],
        "comparisons": [
            {
                "prefix_tokens": each.prefix_tokens,
                "concurrency": each.concurrency,
                "prompts": each.prompts,
                "ttft_saved": each.first_saved,
                "output_rate_factor": each.rate_factor,
            }
            for each in report.comparisons
        ],
        "best": best(report.points).setting if report.sweep else None,
    }


def _point_data(point: Point) -> dict[str, Any]:
    return {
        "setting": point.setting,
        "scenario": asdict(point.scenario),
        "repeats": len(point.runs),
        "prompt_tokens": point.prompt_tokens,
        "ttft": asdict(point.first),
        "ttft_p99": point.first_p99,
        "itl": asdict(point.gap),
        "itl_p99": _finite(point.gap_p99),
        "output_rate": asdict(point.output_rate),
        "hit_rate": point.hit_rate,
        "ttft_split": asdict(parts) if (parts := point.split) else None,
        "gauges": [asdict(run.gauges) for run in point.runs],
        "agreements": [asdict(each) for each in point.agreements],
    }


def _finite(value: float) -> float | None:
    """Return a value that JSON knows."""
    return value if math.isfinite(value) else None


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return [line(header), line(["---"] * len(header)), *(line(row) for row in rows)]


def _milliseconds(value: Spread) -> str:
    return _plain(Spread(*(1000 * each for each in (value.median, value.least, value.most))))


def _change(before: float, after: float) -> str:
    return f"{before:.0f} -> {after:.0f}"


def _plain(value: Spread) -> str:
    return f"{value.median:.1f} ({value.least:.1f} to {value.most:.1f})"


def _lengths(value: tuple[int, int]) -> str:
    least, most = value
    return f"{least}" if least == most else f"{least} to {most}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
