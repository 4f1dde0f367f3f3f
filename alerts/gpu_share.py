"""How much of a GPU vLLM was told to take, and how much a healthy server takes: PromQL by GPU."""

from __future__ import annotations

from alerts.model import number
from alerts.promql import by, exported, served
from alerts.settings import Settings
from exporter.catalogue import (
    CACHE_CONFIG_INFO,
    GPU_MEMORY_TOTAL,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_UTILIZATION_LIMIT,
    SERVER_GPU_INFO,
    UPSTREAM_UP,
)

ON_GPU = ("instance", "uuid")
"""Labels on which series of the same GPU are matched."""


def memory_elevated_beside(settings: Settings) -> str:
    """Return PromQL: exporters (by instance) with a GPU above the elevated usage."""
    usage = exported(settings, GPU_MEMORY_USAGE)
    return f"{usage} > {number(settings.memory.usage.elevated)}"


def configured_share(settings: Settings, match: str = "") -> str:
    """Return PromQL: by GPU, the share of it that the servers on it were told to take together.

    Which server uses which GPU is known where the exporter was told; else one exporter stands for
    one server and all its GPUs.
    """
    on = "(instance, server)"
    limit = exported(settings, GPU_MEMORY_UTILIZATION_LIMIT)
    told = exported(settings, SERVER_GPU_INFO, match)
    usage = exported(settings, GPU_MEMORY_USAGE, match)
    mapped = by(ON_GPU, "sum", f"{told} * on {on} group_left () {limit}")
    alone = f"(0 * {usage} + 1) * on (instance) group_left () sum by (instance) ({limit})"
    unmapped = by(ON_GPU, "sum", f"{alone} unless on (instance) {told}")
    return f"({mapped} or {unmapped})"


def planned_share(settings: Settings, match: str = "") -> str:
    """Return `configured_share` less the GPUs of servers that do not go by it.

    A server with ``--kv-cache-memory-bytes`` takes that for its cache, whatever its share says.
    """
    fixed = served(settings, CACHE_CONFIG_INFO, 'kv_cache_memory_bytes=~"[0-9]+"')
    up = exported(settings, UPSTREAM_UP)
    return (
        f"({configured_share(settings, match)} unless on (instance) ({up} and on (server) {fixed}))"
    )


def growth(settings: Settings, match: str = "") -> str:
    """Return PromQL: by GPU, the share that a healthy server takes beyond the configured one."""
    total = exported(settings, GPU_MEMORY_TOTAL, match)
    return f"{number(settings.memory.growth_bytes)} / {total}"
