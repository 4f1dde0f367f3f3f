"""The results in short, for a terminal; the report has the rest."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from monitoring.bench.comparison import best
from monitoring.bench.report import Report


def results(report: Report) -> Table:
    """Return a table of pairs, or of all points where nothing is paired."""
    table = Table(title=report.title, header_style="bold")
    if report.comparisons:
        columns = (
            "prefix",
            "at once",
            "prompts",
            "TTFT without",
            "with",
            "less",
            "tokens/s",
            "times",
        )
        for column in columns:
            table.add_column(column, justify="right", no_wrap=column == "tokens/s")
        for each in report.comparisons:
            table.add_row(
                f"{each.prefix_tokens}",
                f"{each.concurrency}",
                each.prompts,
                f"{1000 * each.without.first.median:.1f} ms",
                f"{1000 * each.with_caching.first.median:.1f} ms",
                f"{100 * each.first_saved:.0f} %",
                f"{each.without.output_rate.median:.0f} -> "
                f"{each.with_caching.output_rate.median:.0f}",
                f"{each.rate_factor:.2f}",
            )
        return table
    marked = best(report.points) if report.sweep else None
    table.add_column("server")
    for column in ("TTFT", "ITL", "tokens/s", "hit rate"):
        table.add_column(column, justify="right")
    for point in report.points:
        rate = point.hit_rate
        table.add_row(
            escape(point.setting) + (" [bold green]best[/bold green]" if point is marked else ""),
            f"{1000 * point.first.median:.1f} ms",
            f"{1000 * point.gap.median:.1f} ms",
            f"{point.output_rate.median:.1f}",
            "-" if rate is None else f"{rate:.3f}",
        )
    return table


def agreement(report: Report) -> str:
    """Return in one line how often the client's clock and the server's agree."""
    rows = [each for point in report.points for each in point.agreements]
    if not rows:
        return "The server shows no histograms of vLLM: only the client's clock counts."
    agreeing = sum(each.agrees for each in rows)
    return f"Client and server agree in {agreeing} of {len(rows)} figures; the report has them."
