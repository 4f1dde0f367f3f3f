"""Every metric that the exporter reads from vLLM and every metric that it exports.

The rest of the exporter, the dashboards, the alerts and their tests take names from here and
nowhere else, so that a name which nobody emits cannot be queried. Exported ones stand in a module
for each subject; names read from vLLM's page come from `exporter.generations`, which has them for
every release.
"""

from __future__ import annotations

from exporter.catalogue import gpu, own, server
from exporter.catalogue.gpu import (
    GPU_ENERGY,
    GPU_INFO,
    GPU_MEMORY_FREE,
    GPU_MEMORY_OTHER,
    GPU_MEMORY_PROCESS,
    GPU_MEMORY_RESERVED,
    GPU_MEMORY_TOTAL,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_PCIE_RECEIVE,
    GPU_PCIE_TRANSMIT,
    GPU_POWER,
    GPU_TEMPERATURE,
    GPU_UP,
    GPU_UTILIZATION,
)
from exporter.catalogue.own import (
    BUILD_INFO,
    COLLECTOR_DURATION,
    COLLECTOR_SUCCESS,
    CONFIG_RELOAD_SUCCESSFUL,
    CONFIG_RELOAD_TIME,
    ENGINE_ASLEEP,
    PREFIX_CACHING_ENABLED,
    PROBE_DURATION,
    PROBE_SUCCESS,
    UPSTREAM_COUNTER_RESETS,
    UPSTREAM_DURATION,
    UPSTREAM_EXCESS_HITS,
    UPSTREAM_FAILURES,
    UPSTREAM_INFO,
    UPSTREAM_LAST_SUCCESS,
    UPSTREAM_PARSE_ERRORS,
    UPSTREAM_START_TIME,
    UPSTREAM_STATE,
    UPSTREAM_UP,
)
from exporter.catalogue.server import (
    EXTERNAL_PREFIX_CACHE_HIT_RATE,
    GPU_MEMORY_UTILIZATION_LIMIT,
    KV_CACHE_USAGE,
    MM_CACHE_HIT_RATE,
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    SERVER_GPU_INFO,
)
from exporter.generations import (
    CACHE_CONFIG_INFO,
    PREFIX_CACHE_HITS,
    PREFIX_CACHE_QUERIES,
    PREFIX_CACHE_QUERIES_CREATED,
    READ,
    SERIES_PREFIX,
)
from exporter.metric import ExportedMetric

__all__ = [
    "BUILD_INFO",
    "CACHE_CONFIG_INFO",
    "COLLECTOR_DURATION",
    "COLLECTOR_SUCCESS",
    "CONFIG_RELOAD_SUCCESSFUL",
    "CONFIG_RELOAD_TIME",
    "ENGINE_ASLEEP",
    "EXPORTED",
    "EXTERNAL_PREFIX_CACHE_HIT_RATE",
    "GPU_ENERGY",
    "GPU_INFO",
    "GPU_MEMORY_FREE",
    "GPU_MEMORY_OTHER",
    "GPU_MEMORY_PROCESS",
    "GPU_MEMORY_RESERVED",
    "GPU_MEMORY_TOTAL",
    "GPU_MEMORY_USAGE",
    "GPU_MEMORY_USED",
    "GPU_MEMORY_UTILIZATION_LIMIT",
    "GPU_PCIE_RECEIVE",
    "GPU_PCIE_TRANSMIT",
    "GPU_POWER",
    "GPU_TEMPERATURE",
    "GPU_UP",
    "GPU_UTILIZATION",
    "KV_CACHE_USAGE",
    "MM_CACHE_HIT_RATE",
    "PREFIX_CACHE_HITS",
    "PREFIX_CACHE_HIT_RATE",
    "PREFIX_CACHE_QUERIES",
    "PREFIX_CACHE_QUERIES_CREATED",
    "PREFIX_CACHE_WINDOW_QUERY_TOKENS",
    "PREFIX_CACHING_ENABLED",
    "PROBE_DURATION",
    "PROBE_SUCCESS",
    "READ",
    "SERIES_PREFIX",
    "SERVER_GPU_INFO",
    "UPSTREAM_COUNTER_RESETS",
    "UPSTREAM_DURATION",
    "UPSTREAM_EXCESS_HITS",
    "UPSTREAM_FAILURES",
    "UPSTREAM_INFO",
    "UPSTREAM_LAST_SUCCESS",
    "UPSTREAM_PARSE_ERRORS",
    "UPSTREAM_START_TIME",
    "UPSTREAM_STATE",
    "UPSTREAM_UP",
    "ExportedMetric",
]

EXPORTED: tuple[ExportedMetric, ...] = (*server.METRICS, *gpu.METRICS, *own.METRICS)
"""All exported families, in the order of the documentation."""
