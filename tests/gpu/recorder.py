"""Once a second: the card, vLLM's counters, the exporter's page, and the first two again."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import requests

from tests.gpu.card import Card

KEPT = (
    "vllm:gpu_",
    "vllm:prefix_cache_",
    "vllm:kv_cache_usage{",
    "vllm_exporter_upstream_up",
    "vllm_exporter_upstream_resets_total",
    "vllm_exporter_prefix_caching_enabled",
    "vllm_exporter_collector_success",
)
"""Series of the exporter that are written down."""

COUNTERS = ("queries_total", "hits_total", "queries_created")
"""Of ``vllm:prefix_cache_*``."""


class Recorder:
    """Writes lines of JSON; `tests.gpu.recording` says what is in them."""

    def __init__(self, path: Path, card: Card, vllm: str, exporter: str) -> None:
        """Take the file to write, the card, and the roots of both pages."""
        self._path = path
        self._card = card
        self._vllm, self._exporter = f"{vllm}/metrics", f"{exporter}/metrics"
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._phase = "empty"
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the line that is being written."""
        self._stop.set()
        self._thread.join(30)

    def phase(self, name: str) -> None:
        """Say what happens from now on."""
        self._phase = name
        self.mark(phase=name)

    def mark(self, **facts: Any) -> None:
        """Write a line that is no scrape."""
        self._write({"mark": facts, "t": round(time.time(), 3)})

    def _repeat(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            due = time.monotonic()
            while not self._stop.is_set():
                self._write(self._line(session))
                due = max(due + 1, time.monotonic())
                self._stop.wait(due - time.monotonic())

    def _line(self, session: requests.Session) -> dict[str, Any]:
        phase = self._phase
        cards = [self._card.rows()]
        counters = [_counters(_page(session, self._vllm))]
        before = time.time()
        page = _page(session, self._exporter)
        after = time.time()
        counters.append(_counters(_page(session, self._vllm)))
        cards.append(self._card.rows())
        line: dict[str, Any] = {
            "t": round((before + after) / 2, 3),
            "took": round(after - before, 3),
            "phase": phase if phase == self._phase else f"{phase} to {self._phase}",
            "smi": [rows[0] if rows else None for rows in cards],
            "apps": self._card.processes(),
            "vllm": counters,
            "exporter": None if page is None else _kept(page),
        }
        if any(len(rows) > 1 for rows in cards):
            line["further"] = [rows[1:] for rows in cards]
        return line

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(text)


def _page(session: requests.Session, url: str) -> str | None:
    try:
        answer = session.get(url, timeout=5)
    except requests.RequestException:
        return None
    return answer.text if answer.ok else None


def _counters(page: str | None) -> list[float] | None:
    """Return the sums over engines of `COUNTERS`; None without a page or without them."""
    if page is None:
        return None
    found: dict[str, float] = {}
    for line in page.splitlines():
        for name in COUNTERS:
            if line.startswith(f"vllm:prefix_cache_{name}{{"):
                found[name] = found.get(name, 0.0) + float(line.rsplit(" ", 1)[1])
    return [found[name] for name in COUNTERS] if len(found) == len(COUNTERS) else None


def _kept(page: str) -> dict[str, float]:
    rows = (line.rsplit(" ", 1) for line in page.splitlines() if line.startswith(KEPT))
    return {series: float(value) for series, value in rows}
