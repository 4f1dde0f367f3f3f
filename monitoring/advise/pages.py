"""Observations from pages of the server and of the exporter, read for a while."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from exporter.exposition import Page
from monitoring.advise.observation import Configuration, GPUObservation, Observation
from monitoring.metrics_page import parse

COUNTERS = {
    "looked_up": "vllm:prefix_cache_queries_total",
    "found": "vllm:prefix_cache_hits_total",
    "requests": "vllm:request_prompt_tokens_count",
    "prompt_tokens": "vllm:request_prompt_tokens_sum",
    "preemptions": "vllm:num_preemptions_total",
}
"""Attributes of an observation by the counter that they are the increase of."""

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
CACHE_USAGE = "vllm:kv_cache_usage_perc"
CACHE_CONFIG = "vllm:cache_config_info"

SERVER_NAMES = frozenset([*COUNTERS.values(), RUNNING, WAITING, CACHE_USAGE, CACHE_CONFIG])

GPU_USAGE = "vllm:gpu_memory_usage"
GPU_TOTAL = "vllm:gpu_memory_total_bytes"
GPU_RESERVED = "vllm:gpu_memory_reserved_bytes"
GPU_OTHER = "vllm:gpu_memory_other_bytes"

EXPORTER_NAMES = frozenset([GPU_USAGE, GPU_TOTAL, GPU_RESERVED, GPU_OTHER])


def configuration(infos: Sequence[Mapping[str, str]]) -> Configuration | None:
    """Return what ``vllm:cache_config_info`` tells; engines are taken to be configured alike."""
    if not infos:
        return None
    labels = infos[0]
    enabled = labels.get("enable_prefix_caching")
    blocks = _number(labels.get("block_size"))
    tokens = _number(labels.get("kv_cache_size_tokens"))
    return Configuration(
        caching={"True": True, "False": False}.get(enabled or ""),
        block_tokens=None if blocks is None else int(blocks),
        utilization=_number(labels.get("gpu_memory_utilization")),
        cache_tokens=None if tokens is None else int(tokens),
        full_length_sequences=_number(labels.get("kv_cache_max_concurrency")),
    )


def read(text: str) -> Page:
    """Return what is wanted of a page of the server or of the exporter, less what is no number.

    Raises:
        PageError: It has more of that than any server.
    """
    page = parse(text, SERVER_NAMES | EXPORTER_NAMES)
    samples = tuple(sample for sample in page.samples if math.isfinite(sample.value))
    return replace(page, samples=samples)


def observe(
    server: str, pages: Sequence[Page], exporter_pages: Sequence[Page], seconds: float
) -> Observation:
    """Return what pages that were read over ``seconds`` say.

    Args:
        server: What to call the server.
        pages: vLLM's pages, the oldest first.
        exporter_pages: The exporter's pages, likewise; none where there is no exporter.
        seconds: Time between the first and the last.
    """
    running = [_total(page, RUNNING) for page in pages]
    waiting = [_total(page, WAITING) for page in pages]
    usage = [_total(page, CACHE_USAGE, max) for page in pages]
    counted = {key: _increase(pages, name) for key, name in COUNTERS.items()}
    infos = [each.labels for each in pages[-1].samples if each.name == CACHE_CONFIG]
    return Observation(
        server=server,
        seconds=seconds,
        running=_mean(running),
        running_most=max(running),
        waiting=_mean(waiting),
        cache_usage=_mean(usage),
        cache_usage_most=max(usage),
        gpus=_gpus(exporter_pages),
        configuration=configuration(infos) or Configuration(),
        **counted,
    )


def _gpus(pages: Sequence[Page]) -> tuple[GPUObservation, ...]:
    if not pages:
        return ()
    usage: dict[str, float] = {}
    for page in pages:
        for uuid, value in _by_gpu(page, GPU_USAGE).items():
            usage[uuid] = max(usage.get(uuid, 0.0), value)
    last = pages[-1]
    total, reserved, other = (_by_gpu(last, n) for n in (GPU_TOTAL, GPU_RESERVED, GPU_OTHER))
    return tuple(
        GPUObservation(
            uuid,
            value,
            round(total[uuid] - reserved.get(uuid, 0.0)),
            round(other[uuid]) if uuid in other else None,
        )
        for uuid, value in usage.items()
        if uuid in total
    )


def _by_gpu(page: Page, name: str) -> dict[str, float]:
    return {each.labels.get("uuid", ""): each.value for each in page.samples if each.name == name}


def _total(page: Page, name: str, join: Callable[[Sequence[float]], float] = sum) -> float:
    values = [each.value for each in page.samples if each.name == name]
    return float(join(values)) if values else 0.0


def _increase(pages: Sequence[Page], name: str) -> float:
    """Return what the counters grew by; from zero after a restart."""
    grown = 0.0
    for before, after in pairwise(pages):
        difference = _total(after, name) - _total(before, name)
        grown += difference if difference >= 0 else _total(after, name)
    return grown


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _number(text: str | None) -> float | None:
    """Return a label's number; vLLM writes None where it has none."""
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
