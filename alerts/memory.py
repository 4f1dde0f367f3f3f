"""Alerts on GPU memory."""

from __future__ import annotations

from alerts.model import Alert, Group, Lookup, PanelReference, percent
from alerts.settings import Settings
from exporter.catalogue import (
    GPU_MEMORY_FREE,
    GPU_MEMORY_USAGE,
    GPU_MEMORY_UTILIZATION_LIMIT,
    UPSTREAM_UP,
)


def group(settings: Settings) -> Group:
    """Return the rules on GPU memory."""
    return Group(name="vllm-memory", recordings=(), alerts=(usage_high(settings),))


def usage_high(settings: Settings) -> Alert:
    """A GPU has hardly any memory left for what vLLM allocates beyond its share."""
    high, pending = settings.memory.usage.high, settings.memory.high_for
    return Alert(
        name="VLLMGPUMemoryHigh",
        query=GPU_MEMORY_USAGE.name,
        comparison=">",
        threshold=high,
        unit="share",
        pending=pending,
        severity=settings.memory.high_severity,
        labels=("gpu", "uuid", "instance"),
        lookups={
            "free": Lookup(GPU_MEMORY_FREE.name, ("instance", "uuid"), show="bytes"),
            # One exporter watches one server, so both carry the exporter's instance.
            "limit": Lookup(GPU_MEMORY_UTILIZATION_LIMIT.name, ("instance",), show="share"),
            "server": Lookup(UPSTREAM_UP.name, ("instance",), show="server", missing="unknown"),
        },
        summary="A GPU that serves vLLM is almost out of memory.",
        description=(
            "GPU {gpu} ({uuid}) of server {server}: {value} of its memory is in use (above "
            f"{percent(high)} for {pending}); free: {{free}}.\n"
            "vLLM's configured limit (--gpu-memory-utilization): {limit}. vLLM takes that share "
            f"at start and keeps it: with a limit near or above {percent(high)} this alert stays "
            "until the limit is lowered.\n"
            "- Lower --gpu-memory-utilization, or --max-num-seqs, and restart the server.\n"
            "- Find other processes on the GPU: nvidia-smi."
        ),
        panel=PanelReference(
            dashboard_uid="vllm-cache-memory",
            panel_id=21,
            variables={"server": "server"},
        ),
    )
