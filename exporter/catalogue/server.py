"""What the exporter makes of vLLM's pages: its servers' caches and which GPUs they use.

The two headline gauges of the kit, ``vllm:prefix_cache_hit_rate`` here and
``vllm:gpu_memory_usage`` in `exporter.catalogue.gpu`, carry the prefix ``vllm:`` although the
exporter makes them: the guides that operators follow call them so. No vLLM release up to 0.33
exports either name.
"""

from __future__ import annotations

from exporter.metric import ExportedMetric, gauge

PREFIX_CACHE_HIT_RATE = gauge(
    "vllm:prefix_cache_hit_rate",
    ("server", "model_name"),
    "Prompt tokens found in the prefix cache divided by prompt tokens looked up, over the trailing "
    "window, all engines of the model together (0..1). Absent while nothing was looked up.",
)
PREFIX_CACHE_WINDOW_QUERY_TOKENS = gauge(
    "vllm:prefix_cache_window_query_tokens",
    ("server", "model_name"),
    "Prompt tokens looked up in the prefix cache over the trailing window: the denominator of "
    "vllm:prefix_cache_hit_rate. With vLLM 0.7 to 0.8.5 blocks, not tokens.",
)
EXTERNAL_PREFIX_CACHE_HIT_RATE = gauge(
    "vllm:external_prefix_cache_hit_rate",
    ("server", "model_name"),
    "Prompt tokens found by the KV connector divided by prompt tokens asked of it, over the "
    "trailing window (0..1). Absent while none was asked.",
)
MM_CACHE_HIT_RATE = gauge(
    "vllm:mm_cache_hit_rate",
    ("server", "model_name"),
    "Multimodal items found in their cache divided by items looked up, over the trailing window "
    "(0..1). Absent while none was looked up.",
)
KV_CACHE_USAGE = gauge(
    "vllm:kv_cache_usage",
    ("server", "model_name"),
    "Used share of the KV cache (0..1), the fullest engine of the model; blocks that are only kept "
    "for reuse count as free. vLLM refreshes it only while it works on requests.",
)
GPU_MEMORY_UTILIZATION_LIMIT = gauge(
    "vllm:gpu_memory_utilization_limit",
    ("server",),
    "Fraction of the GPU's memory that vLLM was told to take (--gpu-memory-utilization, 0..1).",
)
SERVER_GPU_INFO = gauge(
    "vllm:server_gpu_info",
    ("server", "gpu", "uuid"),
    "Constant 1 for each GPU that the server was configured to use.",
)

METRICS: tuple[ExportedMetric, ...] = (
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    EXTERNAL_PREFIX_CACHE_HIT_RATE,
    MM_CACHE_HIT_RATE,
    KV_CACHE_USAGE,
    GPU_MEMORY_UTILIZATION_LIMIT,
    SERVER_GPU_INFO,
)
"""All of these, in the order of the documentation."""
