"""Panels on GPU memory and the KV cache in it."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import figures, metrics, scales
from dashboards.elements import NOT_REPORTED, YES_NO, Look, Query, Size
from dashboards.gpu_panels import of_gpu
from dashboards.layer import Panel, stat, state_timeline, table, time_series
from dashboards.layer.lists import Column
from dashboards.promql import CHOSEN, by, rate
from dashboards.tiles import MODEL as MODEL_LEGEND
from dashboards.tiles import SERVER as SERVER_LEGEND
from exporter.catalogue import (
    GPU_MEMORY_FREE,
    GPU_MEMORY_RESERVED,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_MEMORY_UTILIZATION_LIMIT,
)


def usage_now(settings: Settings) -> Panel:
    """Show the share that the alert looks at."""
    return stat(
        4,
        "GPU memory in use",
        "Share of the GPU's memory, less what the driver reserves, that all processes on it hold. "
        "High: see the runbook of VLLMGPUMemoryHigh.",
        Size(6, 4),
        [of_gpu(GPU_MEMORY_USAGE)],
        scales.gpu_memory(settings),
    )


def free_now() -> Panel:
    """Show the room in bytes."""
    return stat(
        7,
        "GPU memory free",
        "What is left for CUDA graphs, activations beyond the profile and other processes. Count "
        "the room in GiB, not in per cent: vLLM needs about 1 GiB beyond its share.",
        Size(6, 4),
        [of_gpu(GPU_MEMORY_FREE)],
        scales.BYTES,
    )


def limit(settings: Settings) -> Panel:
    """Show what vLLM was told to take."""
    return stat(
        5,
        "Configured limit",
        "The share of the GPU that vLLM was told to take (--gpu-memory-utilization). It takes it "
        "at start and keeps it: near or above the alert's threshold, the alert stays.",
        Size(6, 4),
        [Query(CHOSEN.select(GPU_MEMORY_UTILIZATION_LIMIT), SERVER_LEGEND)],
        scales.gpu_memory(settings),
    )


def reachable() -> Panel:
    """Show whether the figures are of now."""
    return stat(
        6,
        "vLLM reachable",
        "Whether the server's metrics can be read. If not, the other figures are missing or old; "
        "the exporter's log says why.",
        Size(6, 4),
        [Query(figures.reachable(CHOSEN), SERVER_LEGEND)],
        Look("short", no_value=NOT_REPORTED, words=YES_NO),
    )


def usage(settings: Settings) -> Panel:
    """Show the share's course against thresholds and limit."""
    levels = settings.memory.usage
    pending = settings.alerts["VLLMGPUMemoryHigh"].pending
    return time_series(
        21,
        "GPU memory in use over time",
        f"Lines: from {levels.elevated:.0%} there is little room, above {levels.high:.0%} for "
        f"{pending} alerts. Dashed: what vLLM was told to take. In use well above the dashed "
        "line: growth, or another process on the GPU.",
        Size(12, 10),
        [
            of_gpu(GPU_MEMORY_USAGE),
            Query(CHOSEN.select(GPU_MEMORY_UTILIZATION_LIMIT), f"limit {SERVER_LEGEND}"),
        ],
        scales.gpu_memory(settings),
        dashed="^limit ",
    )


def by_kind() -> Panel:
    """Show what the memory is divided into."""
    return time_series(
        22,
        "GPU memory by kind",
        "Used by processes, free, and reserved by driver and firmware; together the GPU's memory. "
        "Reserved is missing where the driver does not tell. Little free: lower "
        "--gpu-memory-utilization or end other processes.",
        Size(12, 10),
        [
            of_gpu(GPU_MEMORY_USED, "used, "),
            of_gpu(GPU_MEMORY_FREE, "free, "),
            of_gpu(GPU_MEMORY_RESERVED, "reserved, "),
        ],
        scales.BYTES,
        stacked=True,
    )


def kv_cache(settings: Settings) -> Panel:
    """Show how much of the cache live requests hold."""
    level = settings.memory.kv_cache_usage
    return time_series(
        23,
        "KV cache in use",
        "Share of the KV cache that requests hold now, on the fullest engine; blocks kept only for "
        f"reuse count as free. Above {level:.0%} for long (VLLMKVCacheSaturated) requests wait or "
        "are preempted: lower --max-num-seqs or --max-model-len, or add a server.",
        Size(12, 9),
        [Query(figures.kv_cache(CHOSEN), MODEL_LEGEND)],
        scales.kv_cache(settings),
    )


def preemptions(settings: Settings) -> Panel:
    """Show how often running requests lose their place."""
    return time_series(
        24,
        "Preemptions per second",
        "Running requests that lost their KV cache to others and are computed again: work done "
        "twice. Above the line for long (VLLMPreemptions): lower --max-num-seqs, or give vLLM "
        "more memory.",
        Size(12, 9),
        [Query(rate(CHOSEN, metrics.NUM_PREEMPTIONS), MODEL_LEGEND)],
        scales.preemptions(settings),
    )


def trouble(settings: Settings) -> Panel:
    """Show when which of the two was bad."""
    low = f"(min by (server) ({figures.hit_rate(CHOSEN)}) < bool {settings.cache.hit_rate.low:g})"
    high = f"2 * (({figures.gpu_memory(CHOSEN)}) > bool {settings.memory.usage.high:g})"
    return state_timeline(
        31,
        "Memory high, hit rate low",
        "When a server's hit rate was below its alert's threshold (its worst model), when its "
        "memory was above (its fullest GPU), and when both. Both together: the memory buys "
        "nothing. A server without traffic has no low rate.",
        Size(24, 6),
        [Query(f"({low} or 0 * {high}) + on (server) ({high} or 0 * {low})", SERVER_LEGEND)],
        Look(
            "short",
            no_value=NOT_REPORTED,
            words={
                0: ("both fine", "green"),
                1: ("hit rate low", "yellow"),
                2: ("memory high", "orange"),
                3: ("memory high, hit rate low", "red"),
            },
        ),
    )


def configuration() -> Panel:
    """Show what the server says of its cache."""
    columns = {
        "Server": "server",
        "Engine": "engine",
        "Prefix caching": "enable_prefix_caching",
        "Block size": "block_size",
        "Blocks on the GPU": "num_gpu_blocks",
        "Limit": "gpu_memory_utilization",
        "Type": "cache_dtype",
    }
    labels = tuple(columns.values())
    info = by(labels, "max", CHOSEN.select(metrics.CACHE_CONFIG_INFO))
    return table(
        32,
        "Cache configuration",
        "What each server says of its cache. Block size times blocks is what fits, in tokens. A "
        "prefix shorter than a block is never found; models of mixed attention may need longer "
        "ones than the block size says.",
        Size(24, 6),
        [Query(info, "{{server}} {{engine}}", instant=True)],
        [
            Column(title, label, width=215 if label == "server" else None)
            for title, label in columns.items()
        ],
        no_value=NOT_REPORTED,
    )
