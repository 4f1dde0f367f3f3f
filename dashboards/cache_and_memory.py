"""The board "vLLM: prefix cache and memory"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards.board import Board, board
from dashboards.elements import Place, Query, Step
from dashboards.panels import row, stat, time_series
from dashboards.promql import beside_server, exported, rate
from exporter.catalogue import (
    GPU_MEMORY_FREE,
    GPU_MEMORY_RESERVED,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_MEMORY_UTILIZATION_LIMIT,
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_HITS,
    PREFIX_CACHE_QUERIES,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    UPSTREAM_UP,
)

UID = "vllm-cache-memory"

_MODEL = "{{server}} {{model_name}}"
_GPU = "{{server}} GPU {{gpu}}"

_NO_TRAFFIC = "No traffic"
_NO_GPU = "Not reported"


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    return board(
        UID,
        "vLLM: prefix cache and memory",
        "Does prefix caching pay off, and is there room on the GPU?",
        [
            *_now(settings),
            row(10, "Prefix cache", 5),
            *_prefix_cache(settings),
            row(20, "GPU memory", 16),
            *_gpu_memory(settings),
        ],
    )


def _hit_rate_steps(settings: Settings) -> tuple[Step, ...]:
    rates = settings.cache.hit_rate
    return (
        Step("red"),
        Step("orange", rates.broken),
        Step("yellow", rates.low),
        Step("green", rates.good),
    )


def _usage_steps(settings: Settings) -> tuple[Step, ...]:
    usage = settings.memory.usage
    return (Step("green"), Step("yellow", usage.elevated), Step("red", usage.high))


def _now(settings: Settings) -> list[object]:
    window = settings.cache.window
    return [
        stat(
            1,
            "Hit rate",
            f"Share of the prompt tokens looked up in the last {window} that were found in the "
            "prefix cache. Low: see the runbook of VLLMPrefixCacheHitRateLow.",
            Place(0, 0, 4, 5),
            [Query(exported(PREFIX_CACHE_HIT_RATE), _MODEL)],
            unit="percentunit",
            decimals=1,
            steps=_hit_rate_steps(settings),
            no_value=_NO_TRAFFIC,
        ),
        stat(
            2,
            "Tokens looked up",
            f"Prompt tokens looked up in the prefix cache in the last {window}: what the hit rate "
            "is a share of. A hit rate of few tokens means little.",
            Place(4, 0, 4, 5),
            [Query(exported(PREFIX_CACHE_WINDOW_QUERY_TOKENS), _MODEL)],
            unit="short",
            no_value=_NO_TRAFFIC,
        ),
        stat(
            3,
            "GPU memory in use",
            "Share of the GPU's memory, less what the driver reserves, that all processes on it "
            "hold. High: see the runbook of VLLMGPUMemoryHigh.",
            Place(8, 0, 4, 5),
            [Query(beside_server(GPU_MEMORY_USAGE), _GPU)],
            unit="percentunit",
            decimals=1,
            steps=_usage_steps(settings),
            no_value=_NO_GPU,
        ),
        stat(
            4,
            "GPU memory free",
            "What is left for CUDA graphs, activations beyond the profile and other processes. "
            "Count the room in GiB, not in per cent: vLLM needs about 1 GiB beyond its share.",
            Place(12, 0, 4, 5),
            [Query(beside_server(GPU_MEMORY_FREE), _GPU)],
            unit="bytes",
            no_value=_NO_GPU,
        ),
        stat(
            5,
            "Configured limit",
            "The share of the GPU that vLLM was told to take (--gpu-memory-utilization). It takes "
            "it at start and keeps it: near or above the alert's threshold, the alert stays.",
            Place(16, 0, 4, 5),
            [Query(exported(GPU_MEMORY_UTILIZATION_LIMIT), "{{server}}")],
            unit="percentunit",
            steps=_usage_steps(settings),
            no_value=_NO_GPU,
        ),
        stat(
            6,
            "vLLM reachable",
            "Whether the exporter could read the server's metrics. If not, the exporter's log says "
            "why.",
            Place(20, 0, 4, 5),
            [Query(exported(UPSTREAM_UP), "{{server}}")],
            unit="short",
            steps=(Step("red"), Step("green", 1)),
            mappings=[
                {
                    "type": "value",
                    "options": {
                        "0": {"index": 0, "text": "no"},
                        "1": {"index": 1, "text": "yes"},
                    },
                }
            ],
            no_value="No exporter",
        ),
    ]


def _prefix_cache(settings: Settings) -> list[object]:
    rates = settings.cache.hit_rate
    return [
        time_series(
            11,
            "Hit rate over time",
            f"Share of looked-up prompt tokens found, over the last {settings.cache.window} at "
            f"each moment. Lines: {rates.good:.0%} and above is good, below {rates.low:.0%} for "
            f"{settings.alerts['VLLMPrefixCacheHitRateLow'].pending} alerts, below {rates.broken:.0%} caching hardly works. "
            "A gap means that nothing was looked up.",
            Place(0, 6, 12, 10),
            [Query(exported(PREFIX_CACHE_HIT_RATE), _MODEL)],
            unit="percentunit",
            maximum=1,
            steps=_hit_rate_steps(settings),
            no_value=_NO_TRAFFIC,
        ),
        time_series(
            12,
            "Tokens looked up and found, per second",
            "Prompt tokens per second that vLLM looked up in its prefix cache, and those that it "
            "found there. The gap between the two lines is computed anew.",
            Place(12, 6, 12, 10),
            [
                Query(
                    rate(PREFIX_CACHE_QUERIES, "server", "model_name"),
                    f"looked up, {_MODEL}",
                ),
                Query(rate(PREFIX_CACHE_HITS, "server", "model_name"), f"found, {_MODEL}"),
            ],
            unit="short",
            no_value=_NO_TRAFFIC,
        ),
    ]


def _gpu_memory(settings: Settings) -> list[object]:
    usage = settings.memory.usage
    return [
        time_series(
            21,
            "GPU memory in use over time",
            f"Lines: from {usage.elevated:.0%} there is little room, above {usage.high:.0%} for "
            f"{settings.alerts['VLLMGPUMemoryHigh'].pending} alerts. Dashed: what vLLM was told to take. In use well "
            "above the dashed line: growth, or another process on the GPU.",
            Place(0, 17, 12, 10),
            [
                Query(beside_server(GPU_MEMORY_USAGE), _GPU),
                Query(exported(GPU_MEMORY_UTILIZATION_LIMIT), "limit {{server}}"),
            ],
            unit="percentunit",
            maximum=1,
            steps=_usage_steps(settings),
            dashed="^limit ",
            no_value=_NO_GPU,
        ),
        time_series(
            22,
            "GPU memory by kind",
            "Used by processes, free, and reserved by driver and firmware; together the GPU's "
            "memory. Reserved is missing where the driver does not tell.",
            Place(12, 17, 12, 10),
            [
                Query(beside_server(GPU_MEMORY_USED), f"used, {_GPU}"),
                Query(beside_server(GPU_MEMORY_FREE), f"free, {_GPU}"),
                Query(beside_server(GPU_MEMORY_RESERVED), f"reserved, {_GPU}"),
            ],
            unit="bytes",
            stacked=True,
            no_value=_NO_GPU,
        ),
    ]
