"""The plot of a report, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import leather  # type: ignore[import-untyped]

from monitoring.bench.comparison import Comparison
from monitoring.bench.measurement import Point

WIDTH, HEIGHT = 900, 420


def draw(points: Sequence[Point], comparisons: Sequence[Comparison]) -> str:
    """Return two charts: time to first token over prefix length, throughput over concurrency.

    Without pairs there is one bar a point instead, of its output rate. Empty where there is nothing
    to draw.
    """
    if not points:
        return ""
    if not comparisons:
        chart = leather.Chart("Output tokens per second")
        chart.add_bars([(point.output_rate.median, _label(point)) for point in reversed(points)])
        return str(chart.to_svg(width=WIDTH, height=max(HEIGHT // 2, 40 * len(points) + 80)))
    grid = leather.Grid()
    grid.add_one(_first_tokens(comparisons))
    grid.add_one(_rates(comparisons))
    return str(grid.to_svg(width=WIDTH, height=HEIGHT))


def _first_tokens(comparisons: Sequence[Comparison]) -> leather.Chart:
    least = min(each.concurrency for each in comparisons)
    shown = sorted(
        (each for each in comparisons if each.concurrency == least),
        key=lambda each: each.prefix_tokens,
    )
    chart = leather.Chart(f"Time to first token, {least} at once")
    for name, lines in _series(shown):
        series = [(each.prefix_tokens, 1000 * point.first.median) for each, point in lines]
        (chart.add_line if len(series) > 1 else chart.add_dots)(series, name=name)
    chart.add_x_axis(name="prefix, tokens")
    chart.add_y_axis(name="ms")
    _from_zero(chart, [point.first.median * 1000 for each in shown for point in _both(each)])
    return chart


def _rates(comparisons: Sequence[Comparison]) -> leather.Chart:
    longest = max(each.prefix_tokens for each in comparisons)
    shown = sorted(
        (each for each in comparisons if each.prefix_tokens == longest),
        key=lambda each: each.concurrency,
    )
    chart = leather.Chart(f"Output, prefix of {longest} tokens")
    for name, lines in _series(shown):
        series = [(each.concurrency, point.output_rate.median) for each, point in lines]
        (chart.add_line if len(series) > 1 else chart.add_dots)(series, name=name)
    chart.add_x_axis(name="requests at once")
    chart.add_y_axis(name="tokens/s")
    _from_zero(chart, [point.output_rate.median for each in shown for point in _both(each)])
    return chart


def _series(
    shown: Sequence[Comparison],
) -> Iterator[tuple[str, list[tuple[Comparison, Point]]]]:
    """Yield the name and the points of each line: without and with, by how prompts were sent."""
    forms = sorted({each.prompts for each in shown})
    for form in forms:
        pairs = [each for each in shown if each.prompts == form]
        suffix = f", {form}" if len(forms) > 1 else ""
        yield f"without{suffix}", [(each, each.without) for each in pairs]
        yield f"with caching{suffix}", [(each, each.with_caching) for each in pairs]


def _both(pair: Comparison) -> tuple[Point, Point]:
    return pair.without, pair.with_caching


def _from_zero(chart: leather.Chart, values: Sequence[float]) -> None:
    """Let the axis begin at zero, so that heights compare."""
    chart.add_y_scale(0, 1.1 * max(values))


def _label(point: Point) -> str:
    return f"{point.setting}; {point.scenario.concurrency} at once, {point.scenario.prompts}"
