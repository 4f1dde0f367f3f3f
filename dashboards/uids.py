"""Uids of the boards: links and alerts refer to them, so they never change."""

OVERVIEW = "vllm-overview"
CACHE_AND_MEMORY = "vllm-cache-memory"
LATENCY = "vllm-latency"
MONITORING = "vllm-monitoring"
WALLBOARD = "vllm-wallboard"
