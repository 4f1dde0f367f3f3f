"""Scrapes the exporter at an interval and compares each page with the relay's pages."""

from __future__ import annotations

import gzip
import http.client
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from tests.soak import reference
from tests.soak.reference import Counters
from tests.soak.relay import Passage, Relay

RATE_TOLERANCE = 0.01
"""Exporter and relay note a page's time some milliseconds apart, on a busy machine more."""

TOKENS_TOLERANCE = 0.03
FEW_TOKENS = 3000.0
"""Some two prompts: so many tokens may fall on the other side of the window's start."""

SLACK_SECONDS = 0.5

SHARES = ("_rate", "_usage", "_ratio", "_up", "_limit")
"""Ends of the names of what lies within 0..1."""

Values = Mapping[tuple[str, tuple[str, ...]], float]


@dataclass
class Tally:
    """What was seen.

    Attributes:
        scrapes: Number of pages of the exporter.
        compared: How many of them had a hit rate that was compared.
        absent: How many rightly had none.
        largest_difference: Of the hit rates compared.
        seconds: How long each scrape took.
        faults: What was wrong, one line each.
    """

    scrapes: int = 0
    compared: int = 0
    absent: int = 0
    largest_difference: float = 0.0
    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Scraper:
    """One scraper of two."""

    def __init__(
        self,
        port: int,
        relay: Relay,
        every_seconds: float,
        window_seconds: float,
        accept: str,
    ) -> None:
        """Take the exporter's port, the relay, both times, and the form to ask for."""
        self.tally = Tally()
        self.every_seconds = every_seconds
        self._port = port
        self._relay = relay
        self._window = window_seconds
        self._accept = accept
        self._known: dict[float, Counters | None] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scraper", daemon=True)

    def start(self) -> None:
        """Begin to scrape."""
        self._thread.start()

    def stop(self) -> None:
        """Scrape no more."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self.every_seconds):
            began = time.monotonic()
            try:
                values = self._scrape()
            except (OSError, http.client.HTTPException, ValueError) as error:
                self._fault(f"no page: {type(error).__name__}: {error}")
                continue
            ended = time.monotonic()
            self.tally.scrapes += 1
            self.tally.seconds.append(ended - began)
            self._check(values, began, ended)

    def _scrape(self) -> Values:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=15)
        try:
            headers = {
                "Accept": self._accept,
                "Accept-Encoding": "gzip",
                "X-Prometheus-Scrape-Timeout-Seconds": "10",
            }
            connection.request("GET", "/metrics", headers=headers)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ValueError(f"HTTP {response.status}")
        if response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        is_open = "openmetrics" in response.headers.get("Content-Type", "")
        parse = openmetrics.text_string_to_metric_families if is_open else parse_text
        values: dict[tuple[str, tuple[str, ...]], float] = {}
        for family in parse(body.decode()):
            for sample in family.samples:
                series = (sample.name, tuple(sorted(sample.labels.values())))
                if series in values:
                    raise ValueError(f"{series} is there twice")
                values[series] = sample.value
        return values

    def _check(self, values: Values, began: float, ended: float) -> None:
        by_name: dict[str, float] = {}
        for (name, _), value in values.items():
            by_name[name] = value
            if name.endswith(SHARES) and not 0 <= value <= 1:
                self._fault(f"{name} is {value}")
        passages = [p for p in self._relay.passages() if p.at <= ended]
        rate = by_name.get("vllm:prefix_cache_hit_rate")
        tokens = by_name.get("vllm:prefix_cache_window_query_tokens", 0.0)
        usage = by_name.get("vllm:kv_cache_usage")
        if by_name["vllm_exporter_upstream_up"] == 0:
            if rate is not None or usage is not None:
                self._fault("figures of a server that is not up")
            self.tally.absent += 1
            if passages and passages[-1].page is not None and passages[-1].at >= began:
                self._fault("not up, though vLLM's page was there")
            return
        # The other scraper's collection may have been shared, or have come in between.
        candidates = [
            position
            for position, p in enumerate(passages)
            if p.at >= began - SLACK_SECONDS and p.page is not None
        ]
        differences = [
            difference
            for position in candidates
            if (difference := self._difference(passages[: position + 1], rate, tokens, usage))
            is not None
        ]
        if not differences:
            self._fault(
                f"hit rate {rate}, {tokens:.0f} tokens, usage {usage}; computed directly: "
                + "; ".join(self._told(passages[: position + 1]) for position in candidates)
            )
        elif rate is None:
            self.tally.absent += 1
        else:
            self.tally.compared += 1
            best = min(differences)
            self.tally.largest_difference = max(self.tally.largest_difference, best)

    def _difference(
        self, passages: list[Passage], rate: float | None, tokens: float, usage: float | None
    ) -> float | None:
        """Return how far the hit rate is off; None if the figures cannot be of these pages."""
        pages = self._pages(passages)
        if not pages or usage is None or abs(usage - pages[-1].kv_cache_usage) > 1e-9:
            return None
        totals = reference.window(pages, self._window)
        if abs(totals.queries - tokens) > max(FEW_TOKENS, TOKENS_TOLERANCE * totals.queries):
            return None
        if rate is None:
            return 0.0 if totals.queries < FEW_TOKENS else None
        if totals.queries <= 0:
            return 0.0 if tokens < FEW_TOKENS else None
        difference = abs(rate - totals.hits / totals.queries)
        return difference if difference <= RATE_TOLERANCE else None

    def _told(self, passages: list[Passage]) -> str:
        pages = self._pages(passages)
        if not pages:
            return "no page"
        totals = reference.window(pages, self._window)
        return f"{totals.hits:.0f} of {totals.queries:.0f}, usage {pages[-1].kv_cache_usage}"

    def _pages(self, passages: list[Passage]) -> list[Counters]:
        """Return the counters of the pages that were passed, each parsed once."""
        for passage in passages:
            if passage.page is not None and passage.at not in self._known:
                self._known[passage.at] = None
                with suppress(KeyError, ValueError):
                    self._known[passage.at] = reference.read(passage.page, passage.at)
        oldest = passages[0].at if passages else 0.0
        self._known = {at: known for at, known in self._known.items() if at >= oldest}
        found = (self._known.get(passage.at) for passage in passages)
        return [counters for counters in found if counters is not None]

    def _fault(self, message: str) -> None:
        self.tally.faults.append(f"{time.strftime('%H:%M:%S')} {message}")
        print(f"WRONG: {self.tally.faults[-1]}", flush=True)
