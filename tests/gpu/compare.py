"""The exporter's figures against nvidia-smi's and vLLM's own, phase by phase.

    python3 -m tests.gpu.compare RECORDING

prints Markdown. A figure that changes between the reading before the exporter's and the one after
it may lie anywhere between them; what is told is how far outside it lies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exporter.catalogue import (
    GPU_MEMORY_OTHER,
    GPU_MEMORY_PROCESS,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_POWER,
    GPU_TEMPERATURE,
    KV_CACHE_USAGE,
    PREFIX_CACHE_HIT_RATE,
)
from exporter.options import parse_duration
from tests.gpu.direct import hit_rates
from tests.gpu.recording import Recording, Scrape, load

MIB = 1024**2
USED, TOTAL, RESERVED, _, POWER, TEMPERATURE = range(6)


@dataclass
class Largest:
    """The largest of some differences, and how many there were."""

    count: int = 0
    value: float = 0.0

    def take(self, difference: float | None) -> None:
        """Take one more, or none."""
        if difference is not None:
            self.count += 1
            self.value = max(self.value, difference)

    def text(self, digits: int) -> str:
        """Return it for a table."""
        return f"{self.value:.{digits}f}" if self.count else "-"


@dataclass
class Phase:
    """What was found in one phase.

    Attributes:
        name: What happened.
        scrapes: How many there were.
        used: Used memory, MiB.
        usage: Usage against used / (total - reserved) of nvidia-smi.
        rate: Hit rate against vLLM's counters.
        process: Memory of the server's processes, MiB.
        other: Memory of all others, MiB.
        power: Watts.
        temperature: Degrees Celsius.
        outside: Shares that were not 0..1.
        missing: Values that should have been there, and values that should not.
        usages: Usages seen.
        rates: Hit rates seen.
    """

    name: str
    scrapes: int = 0
    used: Largest = field(default_factory=Largest)
    usage: Largest = field(default_factory=Largest)
    rate: Largest = field(default_factory=Largest)
    process: Largest = field(default_factory=Largest)
    other: Largest = field(default_factory=Largest)
    power: Largest = field(default_factory=Largest)
    temperature: Largest = field(default_factory=Largest)
    outside: int = 0
    missing: int = 0
    usages: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


def phases(recording: Recording) -> list[Phase]:
    """Return the phases in order, each compared."""
    window = parse_duration(recording.facts["window"])
    before, after = (hit_rates(recording.scrapes, window, which) for which in (0, 1))
    found: dict[str, Phase] = {}
    following = [*recording.scrapes[1:], None]
    for scrape, then, low, high in zip(recording.scrapes, following, before, after, strict=True):
        phase = found.setdefault(scrape.phase, Phase(scrape.phase))
        phase.scrapes += 1
        if scrape.page is None:
            phase.missing += 1
            continue
        _card(phase, scrape)
        _processes(phase, scrape, then, recording.server_pids(scrape.time))
        _rate(phase, scrape, low, high)
        for name in (GPU_MEMORY_USAGE.name, PREFIX_CACHE_HIT_RATE.name, KV_CACHE_USAGE.name):
            phase.outside += sum(not 0 <= value <= 1 for value in scrape.values(name))
    return list(found.values())


def _card(phase: Phase, scrape: Scrape) -> None:
    used, usage = scrape.value(GPU_MEMORY_USED.name), scrape.value(GPU_MEMORY_USAGE.name)
    if scrape.smi[0] is None and scrape.smi[1] is None:
        return
    if used is None or usage is None:
        phase.missing += 1
        return
    phase.usages.append(usage)
    phase.used.take(_beyond(used / MIB, _smi(scrape, USED)))
    phase.usage.take(_beyond(usage, _usages(scrape)))
    power, temperature = scrape.value(GPU_POWER.name), scrape.value(GPU_TEMPERATURE.name)
    if power is not None:
        phase.power.take(_beyond(power, _smi(scrape, POWER)))
    if temperature is not None:
        phase.temperature.take(_beyond(temperature, _smi(scrape, TEMPERATURE)))


def further(recording: Recording) -> list[Largest]:
    """Return how far used memory, in MiB, of each GPU but the first was off over the recording."""
    found: list[Largest] = []
    for scrape in recording.scrapes:
        shown = scrape.values(GPU_MEMORY_USED.name)[1:]
        before, after = scrape.further
        for number, rows in enumerate(zip(before, after, strict=False)):
            if number == len(found):
                found.append(Largest())
            bounds = [used for row in rows if (used := row[USED]) is not None]
            if number < len(shown):
                found[number].take(_beyond(shown[number] / MIB, bounds))
    return found


def _processes(phase: Phase, scrape: Scrape, then: Scrape | None, server: set[int]) -> None:
    """Compare who holds what, while the card was steady until the next scrape.

    The processes are read once only, and last: memory taken just before is theirs already.
    """
    used = _smi(scrape, USED) + (_smi(then, USED)[:1] if then else [])
    held = [amount for pid, amount in scrape.apps.items() if pid in server]
    if not used or not held or min(used) != max(used):
        return
    process, other = scrape.value(GPU_MEMORY_PROCESS.name), scrape.value(GPU_MEMORY_OTHER.name)
    if process is not None:
        phase.process.take(abs(process / MIB - sum(held)))
    if other is not None:
        phase.other.take(abs(other / MIB - (used[0] - sum(held))))


def _rate(phase: Phase, scrape: Scrape, before: float | None, after: float | None) -> None:
    shown = scrape.value(PREFIX_CACHE_HIT_RATE.name)
    expected = [rate for rate in (before, after) if rate is not None]
    if shown is not None:
        phase.rates.append(shown)
    if shown is not None and expected:
        phase.rate.take(_beyond(shown, expected))
    elif shown is not None or len(expected) == len((before, after)):
        phase.missing += 1


def _smi(scrape: Scrape, column: int) -> list[float]:
    """Return a figure of nvidia-smi before and after."""
    rows = (row for row in scrape.smi if row is not None)
    return [value for row in rows if (value := row[column]) is not None]


def _usages(scrape: Scrape) -> list[float]:
    columns = (_smi(scrape, column) for column in (USED, TOTAL, RESERVED))
    return [used / (total - reserved) for used, total, reserved in zip(*columns, strict=False)]


def _beyond(value: float, bounds: Iterable[float]) -> float | None:
    """Return how far a value lies outside the bounds; None without bounds."""
    found = list(bounds)
    if not found:
        return None
    return max(0.0, min(found) - value, value - max(found))


def markdown(recording: Recording) -> str:
    """Return the comparison as Markdown."""
    found = phases(recording)
    facts = recording.facts
    took = sorted(scrape.took for scrape in recording.scrapes)
    lines = [
        f"- GPU: {facts['gpu']}, driver {facts['driver'] or '-'}",
        f"- vLLM {facts['vllm']}: `{facts['command']}`",
        (
            f"- exporter's window: {facts['window']}; {len(took)} scrapes in "
            f"{recording.scrapes[-1].time - recording.scrapes[0].time:.0f} s; a scrape took "
            f"{1000 * took[len(took) // 2]:.0f} ms (median), {1000 * took[-1]:.0f} ms (longest)"
        ),
        *(f"- {text}" for text in _events(recording)),
        *(
            f"- GPU {number}, which this server does not use: used memory in {each.count} scrapes, "
            f"off by {each.text(2)} MiB at most"
            for number, each in enumerate(further(recording), start=1)
        ),
        "",
        *_table(
            (
                *("phase", "scrapes", "usage", "used, MiB", "usage off by"),
                *("hit rate", "off by", "outside 0..1", "missing"),
            ),
            [
                (
                    *(each.name, str(each.scrapes), _span(each.usages), each.used.text(2)),
                    *(each.usage.text(6), _span(each.rates), each.rate.text(4)),
                    *(str(each.outside), str(each.missing)),
                )
                for each in found
            ],
        ),
        "",
        *_table(
            ("phase", "scrapes", "server, MiB", "others, MiB", "power, W", "temperature, °C"),
            [
                (
                    *(each.name, str(each.process.count), each.process.text(2)),
                    *(each.other.text(2), each.power.text(1), each.temperature.text(0)),
                )
                for each in found
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _events(recording: Recording) -> list[str]:
    texts = []
    for mark in recording.marks:
        facts = mark.facts
        if "start_seconds" in facts:
            caching = "on" if facts["caching"] else "off"
            texts.append(f"start with caching {caching}: {facts['start_seconds']:.0f} s")
        if "skipped" in facts:
            texts.append(f"skipped: {facts['skipped']}")
    answered = sum(mark.facts.get("answered", 0) for mark in recording.marks)
    failed = sum(mark.facts.get("failed", 0) for mark in recording.marks)
    return [*texts, f"requests: {answered} answered, {failed} failed"]


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}" if values else "-"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows)]


if __name__ == "__main__":
    print(markdown(load(Path(sys.argv[1]))), end="")
