"""The budget: what a server takes of a GPU, at start and under load."""

from __future__ import annotations

from dataclasses import dataclass, replace

from monitoring.budget import cache
from monitoring.budget.architecture import Architecture, CacheLayer
from monitoring.budget.cache import Layout
from monitoring.budget.formats import WeightFormat
from monitoring.budget.sizes import GB, GIB

OVERHEAD_BYTES = 15 * GB // 10
"""What the configured share holds besides weights and cache: CUDA context, activations, graphs.
The guides' figure; on an H200 with 8192 batched tokens it was 1.00 GiB (share less weights less
cache of the log)."""

LOAD_GROWTH_BYTES = GIB
"""What vLLM takes beyond its configured share under load. Measured on an H200, vLLM 0.25.1: 1.05
GiB with a Llama-shaped model, 1.00 GiB with a Gemma-4-shaped one. It is counted in bytes, because
nothing in it (buffers of kernels, activations) follows the size of the card."""

BATCHES_AT_ONCE = 2
"""Batches in flight with asynchronous scheduling, vLLM's default on GPUs; 1 on CPUs."""

BLOCK_TOKENS = 16

MOST_GPUS = 1024
"""Largest ``--tensor-parallel-size`` that is looked at."""


@dataclass(frozen=True)
class Plan:
    """How a model is to be served; the names are those of vLLM's flags."""

    weights: WeightFormat
    max_model_len: int = 4096
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 2048
    gpu_memory_utilization: float = 0.85
    block_size: int = BLOCK_TOKENS
    cache_number_bytes: int = 2
    tensor_parallel_size: int = 1
    weights_bytes: int | None = None
    overhead_bytes: int = OVERHEAD_BYTES

    @property
    def in_flight(self) -> int:
        """Most tokens that are computed and not yet settled."""
        return BATCHES_AT_ONCE * self.max_num_batched_tokens


@dataclass(frozen=True)
class Budget:
    """What a plan takes of one GPU, in bytes unless said otherwise.

    Attributes:
        usable: Memory of the GPU less what the driver reserves.
        share: What vLLM takes at start and keeps.
        weights: Of the model (per GPU).
        overhead: CUDA context, activations, graphs.
        cache: What is left of the share for the KV cache; below 0 where weights do not fit.
        sequence: What vLLM sets aside for one sequence of full length.
        kept: By layer kind, what one sequence of full length needs at the least.
        token_capacity: ``kv_cache_size_tokens`` to be expected.
        concurrency: Sequences of full length that fit at once.
        longest: Largest ``--max-model-len`` at which one sequence fits.
        longest_for_all: The same for all ``--max-num-seqs`` at once.
        usage_at_start: The share of the GPU that is in use when the server is ready (0..1).
        usage_under_load: The same after load.
    """

    usable: int
    share: int
    weights: int
    overhead: int
    cache: int
    sequence: int
    kept: dict[str, int]
    token_capacity: int
    concurrency: float
    longest: int
    longest_for_all: int
    usage_at_start: float
    usage_under_load: float

    @property
    def starts(self) -> bool:
        """Whether vLLM starts: it refuses where not even one sequence of full length fits."""
        return self.longest > 0 and self.concurrency >= 1 and self.cache > self.sequence

    @property
    def left(self) -> int:
        """What stays free on the GPU under load."""
        return round(self.usable * (1 - self.usage_under_load))


def budget(model: Architecture, plan: Plan, usable: int) -> Budget:
    """Return what ``plan`` takes of a GPU with ``usable`` bytes."""
    pool = layout(model, plan)
    share = round(plan.gpu_memory_utilization * usable)
    weights = plan.weights_bytes or plan.weights.size(model.parameters)
    weights = -(-weights // plan.tensor_parallel_size)
    room = share - weights - plan.overhead_bytes
    held = cache.capacity(pool, room, plan.max_model_len, plan.in_flight)
    limit = model.max_tokens or 1_048_576
    # A block is kept back as the empty one, so exactly one sequence's worth is not enough.
    return Budget(
        usable=usable,
        share=share,
        weights=weights,
        overhead=plan.overhead_bytes,
        cache=room,
        sequence=pool.sequence_bytes(plan.max_model_len, plan.in_flight),
        kept=cache.needed(_split(model, plan), plan.max_model_len, plan.cache_number_bytes),
        token_capacity=held.kv_cache_size_tokens,
        concurrency=held.kv_cache_max_concurrency,
        longest=cache.longest(pool, room, 1, plan.in_flight, limit),
        longest_for_all=cache.longest(pool, room, plan.max_num_seqs, plan.in_flight, limit),
        usage_at_start=share / usable,
        usage_under_load=min(1.0, (share + LOAD_GROWTH_BYTES) / usable),
    )


def layout(model: Architecture, plan: Plan) -> Layout:
    """Return the layout of the cache on each GPU."""
    return cache.layout(_split(model, plan), plan.block_size, plan.cache_number_bytes)


def _split(model: Architecture, plan: Plan) -> list[CacheLayer]:
    """Return the layers as one of several GPUs holds them: heads are dealt out, never cut."""
    parts = plan.tensor_parallel_size
    return [replace(each, kv_heads=max(1, each.kv_heads // parts)) for each in model.layers]


def splits(model: Architecture) -> list[int]:
    """Return the values of ``--tensor-parallel-size`` that vLLM takes for a model.

    Each GPU gets as many heads of queries as the others; heads of keys and values are dealt out
    evenly too, or each is held by as many GPUs as the others.
    """
    heads = {layer.kv_heads for layer in model.layers}
    return [
        parts
        for parts in range(1, min(model.query_heads, MOST_GPUS) + 1)
        if model.query_heads % parts == 0
        and all(count % parts == 0 or parts % count == 0 for count in heads)
    ]


def safe_utilization(usable: int, threshold: float) -> float:
    """Return the largest ``--gpu-memory-utilization``, in hundredths, that keeps below an alert.

    Args:
        usable: Memory of the GPU less what the driver reserves, in bytes.
        threshold: Usage (0..1) above which the alert fires.
    """
    hundredths = int(100 * (threshold - LOAD_GROWTH_BYTES / usable) + 1e-9)
    return max(0, hundredths) / 100
