"""The metrics that boards query and this kit does not export itself, and where they exist.

The histories come from vLLM's releases: a metric without ``since`` was there in 0.8 already, one
without ``until`` still is in 0.33.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exporter.catalogue import CACHE_CONFIG_INFO as _CACHE_CONFIG_INFO
from exporter.generations import COUNTERS, Cache
from exporter.generations import KV_CACHE_USAGE as _KV_CACHE_USAGE

Release = tuple[int, ...]
"""A release of vLLM: 0.10.2 is ``(0, 10, 2)``."""

OLDEST: Release = (0, 8)
NEWEST: Release = (0, 33)

Page = Literal["server", "exporter", "prometheus", "alertmanager", "rules", "target"]
"""Whose page a series is on; ``rules``: made by Prometheus' rules; ``target``: by its scrapes."""


@dataclass(frozen=True)
class Metric:
    """A series that boards query.

    Attributes:
        name: As on the page, suffix included.
        labels: Those that it has for certain and that boards may use.
        page: Where it comes from.
        since: First release of vLLM that has it.
        until: First release of vLLM that has it no more.
        condition: Why a page of those releases may lack it; empty if none may.
    """

    name: str
    labels: tuple[str, ...] = ("server", "model_name")
    page: Page = "server"
    since: Release = OLDEST
    until: Release | None = None
    condition: str = ""

    def exists_in(self, release: Release) -> bool:
        """Tell whether a release of vLLM has it."""
        return self.since <= release and (self.until is None or release < self.until)


@dataclass(frozen=True)
class Renamed:
    """A metric that vLLM has renamed: never to be added up, for some releases have both."""

    new: Metric
    old: Metric


def _histogram(name: str, **history: Release) -> Metric:
    return Metric(f"{name}_bucket", ("server", "model_name", "le"), **history)  # type: ignore[arg-type]


NUM_REQUESTS_RUNNING = Metric("vllm:num_requests_running")
NUM_REQUESTS_WAITING = Metric("vllm:num_requests_waiting")
NUM_REQUESTS_WAITING_BY_REASON = Metric(
    "vllm:num_requests_waiting_by_reason", ("server", "model_name", "reason"), since=(0, 21)
)
KV_CACHE_USAGE = Renamed(
    Metric(_KV_CACHE_USAGE[0], since=(0, 9, 2)), Metric(_KV_CACHE_USAGE[1], until=(0, 12))
)
_NEW_PREFIX, _OLD_PREFIX = COUNTERS[Cache.PREFIX]
PREFIX_CACHE_QUERIES = Renamed(
    Metric(_NEW_PREFIX.queries, since=(0, 9, 2)), Metric(_OLD_PREFIX.queries, until=(0, 12))
)
PREFIX_CACHE_HITS = Renamed(
    Metric(_NEW_PREFIX.hits, since=(0, 9, 2)), Metric(_OLD_PREFIX.hits, until=(0, 12))
)
PROMPT_TOKENS_BY_SOURCE = Metric(
    "vllm:prompt_tokens_by_source_total", ("server", "model_name", "source"), since=(0, 17)
)
PROMPT_TOKENS = Metric("vllm:prompt_tokens_total")
GENERATION_TOKENS = Metric("vllm:generation_tokens_total")
NUM_PREEMPTIONS = Metric("vllm:num_preemptions_total")
REQUEST_SUCCESS = Metric("vllm:request_success_total", ("server", "model_name", "finished_reason"))
CACHE_CONFIG_INFO = Metric(
    _CACHE_CONFIG_INFO,
    (
        "server",
        "engine",
        "block_size",
        "num_gpu_blocks",
        "gpu_memory_utilization",
        "enable_prefix_caching",
        "cache_dtype",
    ),
)
TIME_TO_FIRST_TOKEN = _histogram("vllm:time_to_first_token_seconds")
TIME_BETWEEN_TOKENS = Renamed(
    _histogram("vllm:inter_token_latency_seconds", since=(0, 10, 2)),
    _histogram("vllm:time_per_output_token_seconds", until=(0, 12)),
)
E2E_LATENCY = _histogram("vllm:e2e_request_latency_seconds")
QUEUE_TIME = _histogram("vllm:request_queue_time_seconds")
PREFILL_TIME = _histogram("vllm:request_prefill_time_seconds")
PROMPT_LENGTH = _histogram("vllm:request_prompt_tokens")
OUTPUT_LENGTH = _histogram("vllm:request_generation_tokens")
HTTP_REQUESTS = Metric(
    "http_requests_total", ("server", "status"), condition="appears with the first request"
)

_ON_TARGET = ("job", "instance")
UP = Metric("up", ("server",), "target")
TARGET_UP = Metric("up", _ON_TARGET, "target")
SCRAPE_DURATION = Metric("scrape_duration_seconds", _ON_TARGET, "target")
SCRAPE_SAMPLES = Metric("scrape_samples_scraped", _ON_TARGET, "target")
ALERTS = Metric(
    "ALERTS", ("alertname", "alertstate", "severity", "server", "model_name", "gpu"), "rules"
)


def _prometheus(name: str, *labels: str) -> Metric:
    return Metric(f"prometheus_{name}", labels, "prometheus")


def _alertmanager(name: str, *labels: str) -> Metric:
    return Metric(f"alertmanager_{name}", labels, "alertmanager")


RULE_EVALUATION_FAILURES = _prometheus("rule_evaluation_failures_total", "rule_group")
RULE_GROUP_DURATION = _prometheus("rule_group_last_duration_seconds", "rule_group")
RULE_GROUP_MISSED = _prometheus("rule_group_iterations_missed_total", "rule_group")
NOTIFICATIONS_SENT = _prometheus("notifications_sent_total", "alertmanager")
NOTIFICATIONS_ERRORS = _prometheus("notifications_errors_total", "alertmanager")
NOTIFICATIONS_DROPPED = _prometheus("notifications_dropped_total")
ALERTMANAGERS_DISCOVERED = _prometheus("notifications_alertmanagers_discovered")
PROMETHEUS_RELOAD = _prometheus("config_last_reload_successful")
PROMETHEUS_SERIES = _prometheus("tsdb_head_series")
PROMETHEUS_MEMORY = Metric("process_resident_memory_bytes", (), "prometheus")
MESSAGES = _alertmanager("notifications_total", "integration")
MESSAGES_FAILED = _alertmanager("notifications_failed_total", "integration")
ALERTMANAGER_ALERTS = _alertmanager("alerts", "state")
ALERTMANAGER_RELOAD = _alertmanager("config_last_reload_successful")
