"""Examinations of what the server tells of itself: metrics, prefix cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exporter import catalogue
from monitoring.advise.pages import (
    CACHE_USAGE,
    COUNTERS,
    RUNNING,
    WAITING,
    configuration,
)
from monitoring.metrics_page import parse
from monitoring.smoke.check import Check, failed, passed, warned
from monitoring.smoke.client import Client, RequestError
from monitoring.smoke.hits import CountersError, probe

EXPECTED = (
    *COUNTERS.values(),
    RUNNING,
    WAITING,
    CACHE_USAGE,
    catalogue.CACHE_CONFIG_INFO,
    "vllm:time_to_first_token_seconds_bucket",
    "vllm:inter_token_latency_seconds_bucket",
    "vllm:prompt_tokens_total",
    "vllm:generation_tokens_total",
    "vllm:request_success_total",
)
"""Series that the kit's rules, boards and commands read."""

FEW_SEQUENCES = 2
"""Sequences of full length below which two long requests displace each other."""

OLD = ("vllm:gpu_prefix_cache_queries_total", "vllm:gpu_cache_usage_perc")
"""Series of vLLM before 0.12 under names that are gone."""


def names(page: str) -> Check:
    """Examine whether the metrics are there, named as the kit expects."""
    if "\nvllm:" not in f"\n{page}":
        return failed(
            "metrics",
            "/metrics answers, but without one series of vLLM",
            "Start vLLM without --disable-log-stats; or the URL is another program's.",
        )
    present = {each.name for each in parse(page, frozenset((*EXPECTED, *OLD))).samples}
    missing = [name for name in EXPECTED if name not in present]
    if not missing:
        return passed("metrics", f"all {len(EXPECTED)} series that the kit reads are there")
    if present & set(OLD):
        return failed(
            "metrics",
            f"old names ({', '.join(sorted(present & set(OLD)))})",
            "Update vLLM: these names are from before 0.12.",
        )
    if catalogue.PREFIX_CACHE_QUERIES in missing or catalogue.PREFIX_CACHE_HITS in missing:
        return failed(
            "metrics",
            f"missing: {', '.join(missing)}",
            "Without them there is no hit rate: update vLLM to 0.9.2 or later.",
        )
    return warned(
        "metrics", f"missing: {', '.join(missing)}", "Panels and alerts on them stay empty."
    )


def caching(infos: list[Mapping[str, str]]) -> Check:
    """Examine whether prefix caching is on."""
    told = configuration(infos)
    if told is None or told.caching is None:
        return warned(
            "prefix caching", "the server does not tell", "Look at the repeated prompt below."
        )
    if not told.caching:
        return failed("prefix caching", "off", "Start vLLM with --enable-prefix-caching.")
    return passed("prefix caching", f"on, blocks of {told.block_tokens} tokens")


def cache_size(infos: list[Mapping[str, str]], max_model_len: int | None) -> Check:
    """Examine how many tokens the KV cache holds."""
    told = configuration(infos)
    if told is None or told.cache_tokens is None:
        return warned("cache size", "the server does not tell", "See its log (`KV cache size`).")
    blocks = infos[0].get("num_gpu_blocks", "?")
    size = f"{told.cache_tokens} tokens in {blocks} blocks"
    data = {"tokens": told.cache_tokens, "sequences": told.full_length_sequences}
    most = told.full_length_sequences
    if most is not None and most < FEW_SEQUENCES:
        return warned(
            "cache size",
            f"{size}: {most:.2f} sequences of {max_model_len} tokens",
            "Two long requests displace each other: shorten --max-model-len, or see `budget`.",
            **data,
        )
    sequences = f", {most:.1f} sequences of full length" if most is not None else ""
    return passed("cache size", size + sequences, **data)


def repetition(
    client: Client, model: str, most_tokens: int, seed: int, progress: Callable[[str], None]
) -> Check:
    """Examine whether a repeated prompt is found, how much of it, and in which steps."""
    name = "repeated prompt"
    try:
        found = probe(client, model, most_tokens, seed, progress)
    except RequestError as error:
        return failed(name, str(error), "See the server's log.")
    except CountersError as error:
        return warned(name, str(error), "Try again on an idle server.")
    tokens, hits, step = found.repeated.tokens, found.repeated.found, found.step
    data = {
        "tokens": tokens,
        "found": hits,
        "step": step,
        "first_seconds": found.first_seconds,
        "again_seconds": found.repeated.seconds,
    }
    if not hits:
        return failed(
            name,
            f"0 of {tokens} tokens were found the second time",
            "Is caching on? If so, blocks are longer than the prompt: --block-size 16, a longer "
            "--max-tokens here, or a model whose layers cannot share (hybrid, Mamba).",
            **data,
        )
    return passed(
        name,
        f"{hits} of {tokens} tokens found, in steps of {step}; a shared prefix below {step} tokens "
        f"can never hit ({found.first_seconds:.2f} s, then {found.repeated.seconds:.2f} s)",
        **data,
    )
