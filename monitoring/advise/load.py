"""Rules on requests: running, waiting, thrown out."""

from __future__ import annotations

from monitoring.advise.finding import Change, Finding
from monitoring.advise.limits import (
    COMFORTABLE_CACHE,
    FREE_CACHE,
    FULL_CACHE,
    MIN_WAITING,
    Limits,
)
from monitoring.advise.observation import Observation


def preemptions(seen: Observation, _: Limits) -> Finding | None:
    """Find requests that were thrown out of the running batch for want of cache."""
    if seen.preemptions < 1:
        return None
    fewer = _fewer_sequences(seen)
    return Finding(
        name="preemptions",
        urgency="warning",
        title="Running requests are thrown out and computed again",
        evidence=f"{seen.preemptions:.0f} preemptions in {seen.seconds / 60:.1f} minutes, KV cache "
        f"in use at most {seen.cache_usage_most:.2f}, {seen.running_most:.0f} running at most",
        cause="more requests were admitted than the KV cache holds to their end",
        changes=(Change("--max-num-seqs", str(fewer)),),
        action="Let fewer run at once; or make more cache: --kv-cache-dtype fp8, or a larger "
        "--gpu-memory-utilization if the alert leaves room.",
        cost="requests wait in the queue instead; work that was done is no longer thrown away",
        verification="vllm:num_preemptions_total stands still",
    )


def saturated(seen: Observation, _: Limits) -> Finding | None:
    """Find a KV cache that is full while requests wait for it."""
    if seen.preemptions >= 1 or seen.cache_usage < FULL_CACHE or seen.waiting < MIN_WAITING:
        return None
    fewer = _fewer_sequences(seen)
    return Finding(
        name="cache-saturated",
        urgency="warning",
        title="The KV cache is full and requests wait",
        evidence=f"KV cache in use {seen.cache_usage:.2f} in the mean, {seen.waiting:.1f} waiting, "
        f"{seen.running:.1f} running",
        cause="requests at once, or their length, are more than the cache holds",
        changes=(Change("--max-num-seqs", str(fewer)),),
        action="Let fewer run at once, so that prefixes stay in the cache; or shorten contexts "
        "(--max-model-len); or --kv-cache-dtype fp8 for twice the tokens.",
        cost="throughput at the peak; with fp8 slightly less exact attention",
        verification=f"vllm:kv_cache_usage_perc below {FULL_CACHE:g} at the same load",
    )


def queueing(seen: Observation, _: Limits) -> Finding | None:
    """Find requests that wait although the KV cache has room."""
    if seen.waiting < MIN_WAITING or seen.cache_usage_most > FREE_CACHE or seen.preemptions >= 1:
        return None
    at_once = seen.configuration.max_num_seqs or round(seen.running_most)
    if at_once < 1:
        return None
    # To where the cache would be comfortably used, but no more than twice at a time.
    factor = min(2.0, COMFORTABLE_CACHE / max(seen.cache_usage_most, 0.01))
    more = max(at_once + 1, int(at_once * factor))
    return Finding(
        name="queueing-with-free-cache",
        urgency="warning",
        title="Requests wait although the KV cache has room",
        evidence=f"{seen.waiting:.1f} waiting and {seen.running:.1f} running in the mean, KV cache "
        f"in use at most {seen.cache_usage_most:.2f}",
        cause=f"no more than {at_once} requests may run at once (--max-num-seqs)",
        changes=(Change("--max-num-seqs", str(more)),),
        action="Let more run at once.",
        cost="each request's tokens come a little slower; memory beyond the share may grow",
        verification="vllm:num_requests_waiting near 0, and vllm:kv_cache_usage_perc below "
        f"{COMFORTABLE_CACHE:g}",
    )


def _fewer_sequences(seen: Observation) -> int:
    """Return how many requests of the present length fill the cache comfortably."""
    most = round(seen.running_most) or seen.configuration.max_num_seqs or 2
    usage = max(seen.cache_usage_most, COMFORTABLE_CACHE)
    return max(1, min(most - 1, int(most * COMFORTABLE_CACHE / usage)))
