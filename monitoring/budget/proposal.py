"""The flags to use: the least change of a plan that makes it fit and keeps the alert quiet."""

from __future__ import annotations

from dataclasses import dataclass, replace

from monitoring.budget.architecture import Architecture
from monitoring.budget.memory import Budget, Plan, budget, safe_utilization

SMALLER_BATCHES = (2048, 1024, 512, 256)
"""Values of --max-num-batched-tokens to try. Fewer make long prompts slower, and let sliding layers
keep less; below 256 prefill hardly moves."""


@dataclass(frozen=True)
class Proposal:
    """A plan that fits, what it takes, and what it costs against the one that was asked for."""

    plan: Plan
    budget: Budget
    changes: tuple[str, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments for ``vllm serve``."""
        plan = self.plan
        flags = [
            "--enable-prefix-caching",
            f"--block-size {plan.block_size}",
            f"--max-model-len {plan.max_model_len}",
            f"--gpu-memory-utilization {plan.gpu_memory_utilization:g}",
            f"--max-num-seqs {plan.max_num_seqs}",
            f"--max-num-batched-tokens {plan.max_num_batched_tokens}",
        ]
        if plan.cache_number_bytes == 1:
            flags.append("--kv-cache-dtype fp8")
        if plan.tensor_parallel_size > 1:
            flags.append(f"--tensor-parallel-size {plan.tensor_parallel_size}")
        return tuple(flags)


def propose(model: Architecture, plan: Plan, usable: int, threshold: float) -> Proposal | None:
    """Return the cheapest plan that holds all sequences, else the one that holds most of them.

    What is tried, in the order of what it costs: the share that the alert allows, smaller batches,
    a cache of 8-bit numbers. The context is kept as asked for; sequences are cut down to those of
    full length that fit, because more of them only displace one another. None where nothing starts.

    Args:
        model: The architecture.
        plan: What was asked for.
        usable: Memory of the GPU less what the driver reserves, in bytes.
        threshold: Usage (0..1) above which the memory alert fires.
    """
    share = safe_utilization(usable, threshold)
    shares = sorted({min(share, plan.gpu_memory_utilization), share})
    batches = [plan.max_num_batched_tokens]
    batches += [size for size in SMALLER_BATCHES if size < plan.max_num_batched_tokens]
    candidates = [
        replace(
            plan,
            gpu_memory_utilization=utilization,
            max_num_batched_tokens=size,
            cache_number_bytes=number_bytes,
        )
        for number_bytes in sorted({plan.cache_number_bytes, 1}, reverse=True)
        for size in batches
        for utilization in shares
    ]
    fitting = [(each, budget(model, each, usable)) for each in candidates]
    fitting = [(each, result) for each, result in fitting if result.starts]
    if not fitting:
        return None
    # The first that holds all sequences; else the one that holds the most.
    wanted = plan.max_num_seqs
    chosen, result = next(
        ((each, found) for each, found in fitting if found.concurrency >= wanted),
        max(fitting, key=lambda pair: pair[1].concurrency),
    )
    final = replace(chosen, max_num_seqs=min(wanted, int(result.concurrency)))
    return Proposal(final, budget(model, final, usable), tuple(_changes(plan, final)))


def _changes(asked: Plan, final: Plan) -> list[str]:
    changes = []
    if final.gpu_memory_utilization != asked.gpu_memory_utilization:
        changes.append(
            f"--gpu-memory-utilization {final.gpu_memory_utilization:g} instead of "
            f"{asked.gpu_memory_utilization:g}: the most that keeps the alert quiet under load"
        )
    if final.max_num_batched_tokens != asked.max_num_batched_tokens:
        changes.append(
            f"--max-num-batched-tokens {final.max_num_batched_tokens} instead of "
            f"{asked.max_num_batched_tokens}: sliding layers keep less, and long prompts take "
            "more steps"
        )
    if final.cache_number_bytes != asked.cache_number_bytes:
        changes.append(
            "--kv-cache-dtype fp8: half the cache per token; slightly less exact attention"
        )
    if final.max_num_seqs != asked.max_num_seqs:
        changes.append(
            f"--max-num-seqs {final.max_num_seqs} instead of {asked.max_num_seqs}: so many of full "
            "length fit at once; more requests wait in the queue"
        )
    return changes
