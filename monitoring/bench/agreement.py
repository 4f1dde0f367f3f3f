"""Whether the client's figures and the server's own agree, within what each can resolve."""

from __future__ import annotations

from dataclasses import dataclass

from monitoring.bench.figures import Client, Histogram, Server, percentile

OVERHEAD_SECONDS = 0.05
"""What lies between the two clocks: HTTP, tokenization, the client's own loop. A request at the end
of a queue of the client's sees most of it."""

OVERHEAD_SHARE = 0.2

P50, P99 = 0.5, 0.99


@dataclass(frozen=True)
class Agreement:
    """One figure by both clocks, in seconds.

    Attributes:
        name: What was measured.
        client: The client's figure.
        low: The least that the server's figure can be.
        high: The most.
        agrees: Whether the client's lies there, with the way between them allowed for.
    """

    name: str
    client: float
    low: float
    high: float
    agrees: bool


def compare(measured: Client, counted: Server) -> list[Agreement]:
    """Return the figures that both measured.

    Means are exact on both sides. Of quantiles the server knows only the bucket. The client's clock
    runs longer for first tokens, because it includes the way there and back.
    """
    rows = []
    for name, values, histogram in (
        ("time to first token", measured.first, counted.first),
        ("inter-token latency", measured.gaps, counted.gaps),
    ):
        if not values or not histogram.count:
            continue
        mean = sum(values) / len(values)
        server_mean = histogram.mean or 0.0
        rows.append(_row(f"{name}, mean", mean, server_mean, server_mean))
        for label, share in (("median", P50), ("p99", P99)):
            rows.append(_quantile(f"{name}, {label}", values, histogram, share))
    return rows


def _quantile(
    name: str, values: tuple[float, ...], histogram: Histogram, share: float
) -> Agreement:
    low, high = histogram.bucket(share) or (0.0, 0.0)
    return _row(name, percentile(values, share), low, high)


def _row(name: str, client: float, low: float, high: float) -> Agreement:
    room = max(OVERHEAD_SECONDS, OVERHEAD_SHARE * client)
    return Agreement(name, client, low, high, low - room <= client <= high + room)
