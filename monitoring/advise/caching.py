"""Rules on the prefix cache."""

from __future__ import annotations

from monitoring.advise.finding import Change, Finding
from monitoring.advise.limits import MIN_LOOKED_UP, Limits
from monitoring.advise.observation import Observation

SMALL_BLOCK = 16
"""vLLM's default --block-size on GPUs; its CPU attention takes no less than 32."""


def disabled(seen: Observation, _: Limits) -> Finding | None:
    """Find a server that caches no prefixes."""
    if seen.configuration.caching is not False:
        return None
    prompt = seen.mean_prompt
    return Finding(
        name="caching-disabled",
        urgency="warning" if seen.requests else "info",
        title="Prefix caching is off",
        evidence='vllm:cache_config_info says enable_prefix_caching="False"; '
        + (f"prompts have {prompt:.0f} tokens in the mean" if prompt else "no requests were seen"),
        cause="the server was started with --no-enable-prefix-caching, or its model cannot cache",
        changes=(Change("--enable-prefix-caching"),),
        action="Start the server with it.",
        cost="next to none: blocks that are free anyway keep what they held",
        verification="`python -m monitoring smoke` finds tokens at the second request; `bench` "
        "measures what it brings",
    )


def short_prefixes(seen: Observation, _: Limits) -> Finding | None:
    """Find prompts that can never hit, because no shared prefix fills a block."""
    told, prompt = seen.configuration, seen.mean_prompt
    if told.caching is False or seen.looked_up < MIN_LOOKED_UP or seen.found > 0:
        return None
    if told.block_tokens is None or prompt is None:
        return None
    changes: tuple[Change, ...] = ()
    if told.block_tokens > SMALL_BLOCK:
        changes = (Change("--block-size", str(SMALL_BLOCK)),)
    shorter = prompt < told.block_tokens
    return Finding(
        name="prefix-shorter-than-block",
        urgency="warning",
        title="Nothing is found: shared prefixes are shorter than a block",
        evidence=f"0 of {seen.looked_up:.0f} tokens found; the mean prompt has {prompt:.0f} "
        f"tokens, a block {told.block_tokens}",
        cause="only whole blocks are found, and "
        + (
            "the mean prompt does not fill one"
            if shorter
            else "what the prompts share does not fill one, or they share nothing; of a hybrid "
            "model the step is a multiple of the block, which `smoke` finds"
        ),
        changes=changes,
        action="Make blocks smaller, or put more of what is the same at the front of each prompt.",
        cost="smaller blocks: a little more bookkeeping" if changes else "none",
        verification="vllm:prefix_cache_hits_total grows",
    )


def low_rate(seen: Observation, limits: Limits) -> Finding | None:
    """Find a cache that finds something, but less than pays off, while memory is no concern."""
    gpu, rate = seen.fullest, seen.hit_rate
    if rate is None or seen.looked_up < MIN_LOOKED_UP or not 0 < rate < limits.low_rate:
        return None
    if gpu is not None and gpu.usage > limits.elevated:
        return None  # told with the memory
    evicted = seen.cache_usage_most > limits.elevated
    return Finding(
        name="low-hit-rate",
        urgency="warning",
        title="The cache finds little",
        evidence=f"hit rate {rate:.2f} of {seen.looked_up:.0f} tokens, KV cache in use at most "
        f"{seen.cache_usage_most:.2f}",
        cause="the KV cache is nearly full, so prefixes are evicted before they come again"
        if evicted
        else "prompts share little, or what they share stands behind something that differs",
        action="Let fewer requests run at once (--max-num-seqs), or give the cache more memory."
        if evicted
        else "Put what is the same first in each prompt, what differs last.",
        cost="requests wait longer in the queue" if evicted else "none: a change of prompts",
        verification=f"vllm:prefix_cache_hit_rate above {limits.low_rate:g}",
    )
