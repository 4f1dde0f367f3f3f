"""Rules on GPU memory."""

from __future__ import annotations

from monitoring.advise.finding import Change, Finding
from monitoring.advise.limits import MIN_LOOKED_UP, STRANGER_BYTES, Limits
from monitoring.advise.observation import GPUObservation, Observation
from monitoring.budget.memory import LOAD_GROWTH_BYTES, safe_utilization
from monitoring.budget.sizes import GIB

SHARE_STEP = 0.05
"""How much of the share is taken away at a time."""


def alert_by_configuration(seen: Observation, limits: Limits) -> Finding | None:
    """Find a configured share that makes the memory alert true for ever."""
    limit, gpu = seen.configuration.utilization, seen.fullest
    if limit is None or gpu is None:
        return None
    expected = limit + LOAD_GROWTH_BYTES / gpu.usable
    if expected <= limits.high:
        return None
    value = safe_utilization(gpu.usable, limits.high)
    return Finding(
        name="alert-by-configuration",
        urgency="critical" if gpu.usage > limits.high else "warning",
        title="VLLMGPUMemoryHigh can never clear with this configuration",
        evidence=f"--gpu-memory-utilization {limit:g} and 1 GiB under load make {expected:.3f} of "
        f"{gpu.usable / GIB:.1f} GiB; the alert fires above {limits.high:g}; now {gpu.usage:.3f}",
        cause="vLLM takes its share at start and keeps it, whether it needs it or not",
        changes=(Change("--gpu-memory-utilization", f"{value:g}"),),
        action="Lower the share, or raise memory.usage.high in the alerts' settings.",
        cost=f"{(limit - value) * gpu.usable / GIB:.1f} GiB less KV cache",
        verification=f"vllm:gpu_memory_usage stays below {limits.high:g} under load",
    )


def another_process(seen: Observation, limits: Limits) -> Finding | None:
    """Find memory that is not vLLM's."""
    gpu = seen.fullest
    if gpu is None:
        return None
    strange = _strange_bytes(seen, gpu)
    if strange < STRANGER_BYTES:
        return None
    return Finding(
        name="another-process",
        urgency="critical" if gpu.usage > limits.high else "warning",
        title="Something else holds memory of this GPU",
        evidence=f"GPU {gpu.uuid}: {gpu.used / GIB:.1f} GiB in use, {strange / GIB:.1f} GiB of it "
        "beyond what vLLM was told to take",
        cause="another process on the GPU, or the remains of one; vLLM itself was seen to take "
        "about 1 GiB beyond its share",
        action="Find it with nvidia-smi and stop or move it. If it is to stay, give vLLM less: "
        "lower --gpu-memory-utilization by its share "
        f"({strange / gpu.usable:.2f}).",
        cost="none, if it can go",
        verification="vllm:gpu_memory_usage is back within 0.05 of "
        "vllm:gpu_memory_utilization_limit",
    )


def waste(seen: Observation, limits: Limits) -> Finding | None:
    """Find memory that is nearly full while caching brings little."""
    gpu, rate = seen.fullest, seen.hit_rate
    if gpu is None or rate is None or seen.looked_up < MIN_LOOKED_UP:
        return None
    if gpu.usage <= limits.elevated or rate >= limits.low_rate:
        return None
    if seen.configuration.caching is False:
        return None
    share = seen.configuration.utilization
    spare = share is not None and share > SHARE_STEP and seen.cache_usage_most < 1 / 2
    changes: tuple[Change, ...] = ()
    if share is not None and spare:
        less = min(share - SHARE_STEP, safe_utilization(gpu.usable, limits.high))
        changes = (Change("--gpu-memory-utilization", f"{less:.2f}"),)
    return Finding(
        name="memory-without-benefit",
        urgency="warning",
        title="Memory is nearly full, and the cache finds little",
        evidence=f"memory {gpu.usage:.2f}, hit rate {rate:.2f} of {seen.looked_up:.0f} tokens, "
        f"KV cache in use at most {seen.cache_usage_most:.2f}",
        cause="prompts share little, or what they share stands behind something that differs; "
        "blocks are kept that nobody asks for again",
        changes=changes,
        action="Put what is the same first in each prompt (system prompt, documents), what differs "
        "last. If nothing is shared by nature, the cache needs less memory.",
        cost="less KV cache: fewer requests at once" if changes else "none: a change of prompts",
        verification=f"vllm:prefix_cache_hit_rate above {limits.low_rate:g}, or memory below "
        f"{limits.elevated:g}",
    )


def high(seen: Observation, limits: Limits) -> Finding | None:
    """Find memory above the alert that neither the share nor a stranger explains."""
    gpu, told = seen.fullest, seen.configuration
    if gpu is None or gpu.usage <= limits.high:
        return None
    if alert_by_configuration(seen, limits) or another_process(seen, limits):
        return None
    changes = []
    if told.max_num_seqs and told.max_num_seqs > 1:
        changes.append(Change("--max-num-seqs", str(told.max_num_seqs // 2)))
    if told.max_num_batched_tokens:
        changes.append(Change("--max-num-batched-tokens", str(told.max_num_batched_tokens // 2)))
    value = safe_utilization(gpu.usable, limits.high)
    rate = "unknown" if seen.hit_rate is None else f"{seen.hit_rate:.2f}"
    return Finding(
        name="memory-high",
        urgency="critical",
        title="GPU memory is above the alert",
        evidence=f"memory {gpu.usage:.2f} of {gpu.usable / GIB:.1f} GiB, hit rate {rate}",
        cause="requests at once, and tokens computed at once, take memory beyond the share"
        + ("" if told.utilization else "; the share itself is not known here"),
        changes=tuple(changes),
        action="Halve what is computed at once. vLLM keeps its configured share all the same: if "
        f"memory does not fall, --gpu-memory-utilization {value:g} is what lowers it."
        + ("" if changes else " Give --max-num-seqs and --max-num-batched-tokens to see values."),
        cost="throughput under full load: a published case went from 10.7 to 9.5 tokens/s, and its "
        "hit rate from 0.85 to 0.80",
        verification=f"vllm:gpu_memory_usage below {limits.elevated:g} under the same load",
    )


def _strange_bytes(seen: Observation, gpu: GPUObservation) -> int:
    if gpu.others is not None:
        return gpu.others
    share = seen.configuration.utilization
    return 0 if share is None else gpu.used - round(share * gpu.usable)
