"""The obvious alternative: an exporter that parses vLLM's whole page at each scrape.

Nothing in it is slow on purpose: one kept connection, one collector, no work besides.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator

import requests
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

QUERIES = "vllm:prefix_cache_queries_total"
HITS = "vllm:prefix_cache_hits_total"
KV_CACHE_USAGE = "vllm:kv_cache_usage_perc"


class PlainCollector:
    """Hit rate since the server's start, and its KV-cache use."""

    def __init__(self, url: str) -> None:
        """Take the URL of vLLM's page."""
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def describe(self) -> list[Metric]:
        """Nothing, so that registering fetches nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Fetch, parse and divide."""
        totals = {QUERIES: 0.0, HITS: 0.0, KV_CACHE_USAGE: 0.0}
        for family in text_string_to_metric_families(self._session.get(self._url, timeout=5).text):
            for sample in family.samples:
                if sample.name in totals:
                    totals[sample.name] += sample.value
        usage = GaugeMetricFamily("plain_kv_cache_usage", "KV-cache use, 0 to 1.")
        usage.add_metric([], totals[KV_CACHE_USAGE])
        yield usage
        if totals[QUERIES]:
            rate = GaugeMetricFamily("plain_prefix_cache_hit_rate", "Since the start, 0 to 1.")
            rate.add_metric([], totals[HITS] / totals[QUERIES])
            yield rate


def main() -> None:
    """Serve as the command line says, until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--url", required=True)
    arguments = parser.parse_args()
    registry = CollectorRegistry()
    registry.register(PlainCollector(arguments.url))
    start_http_server(arguments.port, "127.0.0.1", registry)
    threading.Event().wait()


if __name__ == "__main__":
    main()
