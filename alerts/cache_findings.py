"""Why a prefix cache hardly works, as far as the data tell."""

from __future__ import annotations

from alerts.model import MATCH, Finding, number
from alerts.promql import ON_MODEL, by, served
from alerts.settings import Settings
from exporter.catalogue import CACHE_CONFIG_INFO


def mean_prompt(settings: Settings) -> str:
    """Return PromQL, with `MATCH`: tokens of the mean prompt, by server and model."""
    window = settings.cache.window
    total = served(settings, "vllm:request_prompt_tokens_sum", MATCH)
    requests = served(settings, "vllm:request_prompt_tokens_count", MATCH)
    return (
        f"{by(ON_MODEL, 'sum', f'increase({total}[{window}])')} "
        f"/ ({by(ON_MODEL, 'sum', f'increase({requests}[{window}])')} > 0)"
    )


def reasons(settings: Settings) -> dict[str, Finding]:
    """Return the reasons for a hit rate near none.

    Each is said where the data point to it; the last where they point to none of the others.
    """
    window, short = settings.cache.window, number(settings.cache.short_prompt_tokens)
    mean = mean_prompt(settings)
    fullest = by(
        ON_MODEL,
        "max",
        f"max_over_time({served(settings, 'vllm:kv_cache_usage_perc', MATCH)}[{window}])",
    )
    preempted = by(
        ON_MODEL,
        "sum",
        f"increase({served(settings, 'vllm:num_preemptions_total', MATCH)}[{window}])",
    )
    usage = number(settings.memory.kv_cache_usage)
    evicted = f"({preempted} > 0 or {fullest} > {usage})"
    off = served(settings, CACHE_CONFIG_INFO, 'enable_prefix_caching="False"', MATCH)
    return {
        "off": Finding(
            by(("server",), "count", off),
            ("server",),
            "Prefix caching is off for some engine of this server. ",
        ),
        "short": Finding(
            f"{mean} < {short}",
            ON_MODEL,
            f"Prompts are short (mean below {short} tokens): what they share is likely shorter "
            "than a block of the cache, and only whole blocks are found again. ",
        ),
        "evicted": Finding(
            evicted,
            ON_MODEL,
            "The KV cache is full or requests are preempted: blocks are evicted before they are "
            "reused. ",
        ),
        "unshared": Finding(
            f"{mean} >= {short} unless {evicted}",
            ON_MODEL,
            "Prompts are long enough and the KV cache has room, so most likely they do not begin "
            "with the same tokens. ",
        ),
    }
