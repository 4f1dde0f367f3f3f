"""Alerts on GPU memory and on the KV cache."""

from __future__ import annotations

from alerts import panels
from alerts.gpu_share import ON_GPU, configured_share, growth, planned_share
from alerts.model import MATCH, Alert, Finding, Group, Lookup, Text, above, number, percent
from alerts.promql import GPU, MODEL, ON_MODEL, by, exported, served, total_rate
from alerts.settings import Settings
from exporter.catalogue import (
    GPU_MEMORY_FREE,
    GPU_MEMORY_USAGE,
    UPSTREAM_UP,
)


def group(settings: Settings) -> Group:
    """Return the rules on memory."""
    return Group(
        name="vllm-memory",
        recordings=(),
        alerts=(
            usage_high(settings),
            usage_elevated(settings),
            above_limit(settings),
            kv_cache_saturated(settings),
            preemptions(settings),
        ),
    )


def _details(settings: Settings) -> dict[str, Lookup]:
    return {
        "free": Lookup(exported(settings, GPU_MEMORY_FREE, MATCH), ON_GPU, "bytes"),
        "limit": Lookup(configured_share(settings, MATCH), ON_GPU, "share"),
        "server": Lookup(
            exported(settings, UPSTREAM_UP, MATCH), ("instance",), missing="unknown", label="server"
        ),
    }


def usage_high(settings: Settings) -> Alert:
    """A GPU has hardly any memory left for what vLLM allocates beyond its share."""
    high, terms = settings.memory.usage.high, settings.alerts["VLLMGPUMemoryHigh"]
    ceiling = f"{number(high)} - {growth(settings, MATCH)}"
    permanent = (
        f"{planned_share(settings, MATCH)} + on (instance, uuid) {growth(settings, MATCH)} "
        f"> {number(high)}"
    )
    return Alert(
        name="VLLMGPUMemoryHigh",
        measure=above(exported(settings, GPU_MEMORY_USAGE), high, "share"),
        terms=terms,
        labels=GPU,
        text=Text(
            summary="A GPU that serves vLLM is almost out of memory.",
            description=(
                "GPU {gpu} ({uuid}) of server {server}: {value} of its memory is in use (above "
                f"{percent(high)} for {terms.pending}); free: {{free}}. vLLM's configured limit "
                "(--gpu-memory-utilization): {limit}."
            ),
            cause="{permanent}vLLM grew beyond its share, or another process sits on the GPU.",
            action=(
                "- Lower --gpu-memory-utilization, or --max-num-seqs, and restart the server.\n"
                "- Find other processes on the GPU: nvidia-smi."
            ),
        ),
        panel=panels.GPU_MEMORY,
        lookups={**_details(settings), "ceiling": Lookup(ceiling, ON_GPU, "share")},
        findings={
            "permanent": Finding(
                permanent,
                ON_GPU,
                "THIS ALERT IS PERMANENT with the configured limit of {limit}: vLLM takes that "
                "share at start and keeps it, and needs about 1 GiB more under load. Two ways "
                "out: (1) restart the server with --gpu-memory-utilization of at most {ceiling}; "
                "(2) keep the limit, raise memory.usage.high in the settings above the usage "
                "under full load, and rely on VLLMGPUMemoryAboveLimit for growth. Otherwise: ",
            )
        },
    )


def usage_elevated(settings: Settings) -> Alert:
    """Little room is left, and not because vLLM was told so."""
    elevated, terms = settings.memory.usage.elevated, settings.alerts["VLLMGPUMemoryElevated"]
    usage = exported(settings, GPU_MEMORY_USAGE)
    planned = f"{planned_share(settings)} + on (instance, uuid) {growth(settings)}"
    return Alert(
        name="VLLMGPUMemoryElevated",
        measure=above(usage, elevated, "share"),
        terms=terms,
        labels=GPU,
        guards=(f"unless on (instance, uuid) {usage} <= on (instance, uuid) {planned}",),
        text=Text(
            summary="A GPU that serves vLLM has little memory left.",
            description=(
                "GPU {gpu} ({uuid}) of server {server}: {value} of its memory is in use (above "
                f"{percent(elevated)} for {terms.pending}, and more than vLLM's configured limit "
                "of {limit} explains); free: {free}."
            ),
            cause="Another process sits on the GPU, or vLLM grew beyond its share.",
            action=(
                "- Find other processes on the GPU: nvidia-smi.\n"
                "- Lower --max-num-seqs or --max-num-batched-tokens, which decide what vLLM "
                "needs beyond its share, and restart the server when convenient."
            ),
        ),
        panel=panels.GPU_MEMORY,
        lookups=_details(settings),
    )


def above_limit(settings: Settings) -> Alert:
    """More is in use than vLLM was told to take: true whatever it was told."""
    excessive, terms = settings.memory.above_limit, settings.alerts["VLLMGPUMemoryAboveLimit"]
    usage = exported(settings, GPU_MEMORY_USAGE)
    excess = f"{usage} - on (instance, uuid) group_left () {planned_share(settings)}"
    return Alert(
        name="VLLMGPUMemoryAboveLimit",
        measure=above(excess, excessive, "share"),
        terms=terms,
        labels=GPU,
        guards=(f"and on (instance, uuid) {excess} > on (instance, uuid) {growth(settings)}",),
        text=Text(
            summary="A GPU holds more memory than vLLM was told to take.",
            description=(
                "GPU {gpu} ({uuid}) of server {server}: {value} of its memory is in use beyond "
                "vLLM's configured limit of {limit} (--gpu-memory-utilization), for "
                f"{terms.pending}; free: {{free}}."
            ),
            cause="Another process sits on the GPU, or vLLM's memory grows under load.",
            action=(
                "- Find other processes on the GPU: nvidia-smi.\n"
                "- If it is vLLM itself: lower --max-num-seqs or --max-num-batched-tokens and "
                "restart; if it grows without end, report it to vLLM with the version."
            ),
        ),
        panel=panels.GPU_MEMORY,
        lookups=_details(settings),
    )


def kv_cache_saturated(settings: Settings) -> Alert:
    """Live requests hold nearly all of the KV cache, so others wait or are thrown back."""
    limit, terms = settings.memory.kv_cache_usage, settings.alerts["VLLMKVCacheSaturated"]
    fullest = by(MODEL, "max", served(settings, "vllm:kv_cache_usage_perc"))
    produced = total_rate(settings, MODEL, "vllm:generation_tokens_total")
    return Alert(
        name="VLLMKVCacheSaturated",
        measure=above(fullest, limit, "share"),
        terms=terms,
        labels=MODEL,
        # The gauge keeps its last value while the engine does nothing.
        guards=(f"and {produced} > 0",),
        text=Text(
            summary="The KV cache of a vLLM server is full.",
            description=(
                "Server {server}, model {model_name}: running requests hold {value} of the KV "
                f"cache of the fullest engine (above {percent(limit)} for {terms.pending}); "
                "{waiting} requests wait."
            ),
            cause="More or longer requests run at once than the cache has room for.",
            action=(
                "- Lower --max-num-seqs or --max-model-len: fewer or shorter requests at once.\n"
                "- Or enlarge the cache: more --gpu-memory-utilization where the GPU has room, "
                "--kv-cache-dtype fp8, another replica."
            ),
        ),
        panel=panels.KV_CACHE,
        lookups={
            "waiting": Lookup(
                by(
                    ON_MODEL,
                    "sum",
                    served(settings, "vllm:num_requests_waiting", MATCH),
                ),
                ON_MODEL,
            )
        },
    )


def preemptions(settings: Settings) -> Alert:
    """Requests are thrown out of the KV cache and computed again."""
    limit, terms = settings.memory.preemptions_per_second, settings.alerts["VLLMPreemptions"]
    preempted = total_rate(settings, MODEL, "vllm:num_preemptions_total")
    window = settings.service.window
    return Alert(
        name="VLLMPreemptions",
        measure=above(preempted, limit, "per_second"),
        terms=terms,
        labels=MODEL,
        text=Text(
            summary="A vLLM server throws running requests back into the queue.",
            description=(
                "Server {server}, model {model_name}: {value} preemptions per second over the "
                f"last {window} (above {number(limit)} for {terms.pending}). Each is computed "
                "again from the start of its prompt."
            ),
            cause="The KV cache is too small for the requests that were let in at once.",
            action=(
                "- Lower --max-num-seqs (halve it, then look again) or --max-num-batched-tokens.\n"
                "- Or enlarge the cache: more --gpu-memory-utilization where the GPU has room, a "
                "smaller --max-model-len, another replica."
            ),
        ),
        panel=panels.PREEMPTIONS,
    )
