"""Where the time to first token goes: the client's clock and vLLM's, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.bench.figures import Client, Server


@dataclass(frozen=True)
class Split:
    """The mean time to first token and its parts, in seconds.

    Attributes:
        requests: How many requests the means are of.
        first: The whole, by the client's clock.
        way: Outside vLLM's own clock: HTTP and JSON on both sides, both event loops.
        entrance: Within vLLM but in neither of the next two: text is tokenized and blocks are
            hashed on the way into the engine, the token is passed on on the way out.
        queue: From the engine's queue to the first step of the prefill.
        prefill: From there to the first token.
    """

    requests: int
    first: float
    way: float
    entrance: float
    queue: float
    prefill: float


def split(runs: Sequence[tuple[Client, Server | None]]) -> Split | None:
    """Return the parts over all runs together; None where the server does not tell them.

    Sums of histograms are exact, but only those over the very requests that the client sent will
    do: a run is left out where a histogram counted more (other clients) or less (a page that was
    read too soon).
    """
    usable = [
        (measured, counted)
        for measured, counted in runs
        if counted
        and measured.first
        and {each.count for each in (counted.first, counted.queue, counted.prefill)}
        == {len(measured.first)}
    ]
    if not usable:
        return None
    requests = sum(len(measured.first) for measured, _ in usable)
    first = sum(sum(measured.first) for measured, _ in usable) / requests
    server = sum(counted.first.total for _, counted in usable) / requests
    queue = sum(counted.queue.total for _, counted in usable) / requests
    prefill = sum(counted.prefill.total for _, counted in usable) / requests
    return Split(requests, first, first - server, server - queue - prefill, queue, prefill)
