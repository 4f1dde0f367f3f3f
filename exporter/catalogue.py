"""Every metric that the exporter reads from vLLM and every metric that it exports.

The rest of the exporter, the dashboards, the alerts and their tests take names from here and
nowhere else, so that a name which nobody emits cannot be queried.

The two headline gauges carry the prefix ``vllm:`` although the exporter makes them: the guides
that operators follow call them so. No vLLM release up to 0.33 exports either name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prometheus_client.metrics_core import GaugeMetricFamily

# --- read from vLLM's own page ------------------------------------------------------------------

PREFIX_CACHE_QUERIES = "vllm:prefix_cache_queries_total"
"""Counter, tokens looked up in the prefix cache; labels ``engine``, ``model_name``."""

PREFIX_CACHE_HITS = "vllm:prefix_cache_hits_total"
"""Counter, tokens found in the prefix cache; labels ``engine``, ``model_name``."""

PREFIX_CACHE_QUERIES_CREATED = "vllm:prefix_cache_queries_created"
"""Gauge, Unix time in seconds at which the counter of queries began at zero."""

CACHE_CONFIG_INFO = "vllm:cache_config_info"
"""Constant 1; vLLM's cache configuration as labels, with ``engine`` and without ``model_name``."""

READ: frozenset[str] = frozenset(
    {PREFIX_CACHE_QUERIES, PREFIX_CACHE_HITS, PREFIX_CACHE_QUERIES_CREATED, CACHE_CONFIG_INFO}
)
"""Names of the series that are picked out of vLLM's page."""

SERIES_PREFIX = "vllm:"
"""What every series of a vLLM server begins with; a page without it is not vLLM's."""

# --- exported -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExportedMetric:
    """One metric family of the exporter.

    Attributes:
        name: Full name on the page.
        type: Prometheus type.
        labels: Label names, in the order in which values are given.
        help: One sentence with unit and meaning.
    """

    name: str
    type: Literal["gauge"]
    labels: tuple[str, ...]
    help: str

    def family(self) -> GaugeMetricFamily:
        """Return a fresh, empty family; a scrape never shares one with another scrape."""
        return GaugeMetricFamily(self.name, self.help, labels=self.labels)


def _gauge(name: str, labels: tuple[str, ...], help_text: str) -> ExportedMetric:
    return ExportedMetric(name, "gauge", labels, help_text)


PREFIX_CACHE_HIT_RATE = _gauge(
    "vllm:prefix_cache_hit_rate",
    ("server", "model_name"),
    "Prompt tokens found in the prefix cache divided by prompt tokens looked up, over the trailing "
    "window, all engines of the model together (0..1). Absent while nothing was looked up.",
)
PREFIX_CACHE_WINDOW_QUERY_TOKENS = _gauge(
    "vllm:prefix_cache_window_query_tokens",
    ("server", "model_name"),
    "Prompt tokens looked up in the prefix cache over the trailing window: the denominator of "
    "vllm:prefix_cache_hit_rate.",
)
GPU_MEMORY_UTILIZATION_LIMIT = _gauge(
    "vllm:gpu_memory_utilization_limit",
    ("server",),
    "Fraction of the GPU's memory that vLLM was told to take (--gpu-memory-utilization, 0..1).",
)

GPU_MEMORY_USAGE = _gauge(
    "vllm:gpu_memory_usage",
    ("gpu", "uuid"),
    "Used GPU memory divided by total less reserved (0..1), of all processes on the GPU: the base "
    "of nvidia-smi's used and of vLLM's --gpu-memory-utilization.",
)
GPU_MEMORY_USED = _gauge(
    "vllm:gpu_memory_used_bytes",
    ("gpu", "uuid"),
    "GPU memory in use by all processes, in bytes.",
)
GPU_MEMORY_FREE = _gauge("vllm:gpu_memory_free_bytes", ("gpu", "uuid"), "Free GPU memory in bytes.")
GPU_MEMORY_TOTAL = _gauge(
    "vllm:gpu_memory_total_bytes",
    ("gpu", "uuid"),
    "GPU memory in bytes, the part that the driver reserves included.",
)
GPU_MEMORY_RESERVED = _gauge(
    "vllm:gpu_memory_reserved_bytes",
    ("gpu", "uuid"),
    "GPU memory that driver and firmware reserve, in bytes. Absent where the driver does not tell.",
)
GPU_INFO = _gauge(
    "vllm:gpu_info",
    ("gpu", "uuid", "name", "driver_version", "backend"),
    "Constant 1; identity of the GPU and what read it (nvml, simulated).",
)

BUILD_INFO = _gauge(
    "vllm_exporter_build_info",
    ("version", "python_version"),
    "Constant 1; version of the exporter.",
)
UPSTREAM_UP = _gauge(
    "vllm_exporter_upstream_up",
    ("server",),
    "1 if the server's page was fetched and is vLLM's, else 0.",
)
UPSTREAM_DURATION = _gauge(
    "vllm_exporter_upstream_duration_seconds",
    ("server",),
    "Seconds that fetching the server's page took, failed or not.",
)
COLLECTOR_SUCCESS = _gauge(
    "vllm_exporter_collector_success",
    ("collector",),
    "1 if the collector got all that it asked for in this scrape, else 0.",
)
COLLECTOR_DURATION = _gauge(
    "vllm_exporter_collector_duration_seconds",
    ("collector",),
    "Seconds that the collector took in this scrape.",
)

EXPORTED: tuple[ExportedMetric, ...] = (
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    GPU_MEMORY_UTILIZATION_LIMIT,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_MEMORY_FREE,
    GPU_MEMORY_TOTAL,
    GPU_MEMORY_RESERVED,
    GPU_INFO,
    BUILD_INFO,
    UPSTREAM_UP,
    UPSTREAM_DURATION,
    COLLECTOR_SUCCESS,
    COLLECTOR_DURATION,
)
"""All exported families, in the order of the documentation."""
