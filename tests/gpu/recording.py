"""What `tests.gpu.recorder` wrote down, read again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Counters = tuple[float, float, float]
"""Tokens looked up, tokens found, Unix time of the counters' birth."""

Row = Sequence[float | None]
"""nvidia-smi: used, total, reserved (MiB), utilization (%), power (W), temperature (°C)."""


@dataclass(frozen=True)
class Scrape:
    """One page of the exporter, with what was read right before and right after it.

    Attributes:
        time: Unix time in seconds.
        took: Seconds that the exporter took.
        phase: What happened meanwhile.
        smi: nvidia-smi before and after, of the GPU that is loaded.
        further: The same of the other GPUs, in their order; empty where there is one GPU.
        apps: MiB by process ID, after.
        counters: vLLM's counters before and after; None where it had none to show.
        page: The exporter's series; None where it did not answer.
    """

    time: float
    took: float
    phase: str
    smi: tuple[Row | None, Row | None]
    apps: dict[int, float]
    counters: tuple[Counters | None, Counters | None]
    page: dict[str, float] | None
    further: tuple[Sequence[Row], Sequence[Row]] = ((), ())

    def value(self, name: str) -> float | None:
        """Return a series of the page by its family's name; of the first GPU, if of any."""
        return next(iter(self.values(name)), None)

    def values(self, name: str) -> list[float]:
        """Return all series of a family."""
        return [value for series, value in (self.page or {}).items() if _family(series) == name]


@dataclass(frozen=True)
class Mark:
    """Something that happened between scrapes."""

    time: float
    facts: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """A whole run."""

    scrapes: list[Scrape]
    marks: list[Mark]

    @property
    def facts(self) -> dict[str, Any]:
        """What was run: the facts of the first mark."""
        return self.marks[0].facts

    def server_pids(self, time: float) -> set[int]:
        """Return the process IDs of the server that ran last at a time."""
        pids: set[int] = set()
        for mark in self.marks:
            if mark.time <= time and "server" in mark.facts:
                pids = set(mark.facts["server"])
        return pids


def load(path: Path) -> Recording:
    """Return the recording in a file, packed by gzip or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    scrapes, marks = [], []
    for line in text.splitlines():
        data = json.loads(line)
        if "mark" in data:
            marks.append(Mark(data["t"], data["mark"]))
        else:
            scrapes.append(_scrape(data))
    return Recording(scrapes, marks)


def _scrape(data: dict[str, Any]) -> Scrape:
    before, after = (None if each is None else (each[0], each[1], each[2]) for each in data["vllm"])
    return Scrape(
        time=data["t"],
        took=data["took"],
        phase=data["phase"].partition(" to ")[0],
        smi=(data["smi"][0], data["smi"][1]),
        apps={int(pid): used for pid, used in data["apps"]},
        counters=(before, after),
        page=data["exporter"],
        further=tuple(data.get("further", ((), ()))),
    )


def _family(series: str) -> str:
    return series.partition("{")[0]
