"""Alerts on the prefix cache."""

from __future__ import annotations

from collections.abc import Mapping

from alerts import panels
from alerts.cache_findings import mean_prompt, reasons
from alerts.gpu_share import memory_elevated_beside
from alerts.model import (
    MATCH,
    Alert,
    Finding,
    Group,
    Lookup,
    RecordingRule,
    Text,
    below,
    number,
    percent,
    present,
)
from alerts.promql import MODEL, ON_MODEL, SERVER, by, exported, not_exempt, served
from alerts.settings import Settings
from exporter.catalogue import (
    CACHE_CONFIG_INFO,
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_HITS,
    PREFIX_CACHE_QUERIES,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    UPSTREAM_START_TIME,
)

_CHECK_PREFIXES = (
    "- Do prompts share prefixes? The same text, in the same order, from the first token on: "
    "put system prompt and documents first, what differs (date, name, question) last.\n"
    "- Are shared prefixes shorter than a cache block (--block-size; the server's log tells where "
    "a model needs larger blocks)? Only whole blocks are found again."
)


def group(settings: Settings) -> Group:
    """Return the rules on the prefix cache."""
    return Group(
        name="vllm-cache",
        recordings=(hit_rate_from_counters(settings),),
        alerts=(
            hit_rate_low(settings),
            ineffective(settings),
            wastes_memory(settings),
            disabled(settings),
        ),
    )


def hit_rate_from_counters(settings: Settings) -> RecordingRule:
    """The hit rate as Prometheus itself computes it from vLLM's counters.

    A check on the exporter's figure, and what is left of it while the exporter is down. Engines
    are summed before dividing; without traffic there is no series.
    """
    window = settings.cache.window
    hits = by(ON_MODEL, "sum", f"rate({served(settings, PREFIX_CACHE_HITS)}[{window}])")
    queries = by(ON_MODEL, "sum", f"rate({served(settings, PREFIX_CACHE_QUERIES)}[{window}])")
    return RecordingRule(
        record="server_model_name:vllm_prefix_cache_hits_per_query:ratio_rate",
        query=f"{hits} / ({queries} > 0)",
    )


def hit_rate_low(settings: Settings) -> Alert:
    """Fewer of the looked-up prompt tokens are found in the cache than pays off."""
    cache, terms = settings.cache, settings.alerts["VLLMPrefixCacheHitRateLow"]
    low = cache.hit_rate.low
    return _on_hit_rate(
        settings,
        "VLLMPrefixCacheHitRateLow",
        low,
        Text(
            summary="A vLLM server finds too few prompt tokens in its prefix cache.",
            description=(
                "Server {server}, model {model_name}: {value} of the prompt tokens looked up in "
                f"the last {cache.window} were found in the prefix cache (below {percent(low)} "
                f"for {terms.pending}; {{tokens}} tokens looked up)."
            ),
            cause="Prompts share too little, share it too late, or lose it before it is reused.",
            action=(
                f"{_CHECK_PREFIXES}\n"
                "- Are blocks evicted before they are reused? KV-cache usage near 100%, "
                "preemptions: lower --max-num-seqs or give the cache more memory."
            ),
        ),
        lookups=_tokens(settings),
    )


def ineffective(settings: Settings) -> Alert:
    """Caching hardly works; the data say what is the likeliest reason."""
    cache, terms = settings.cache, settings.alerts["VLLMPrefixCacheIneffective"]
    broken = cache.hit_rate.broken
    return _on_hit_rate(
        settings,
        "VLLMPrefixCacheIneffective",
        broken,
        Text(
            summary="The prefix cache of a vLLM server hardly works.",
            description=(
                "Server {server}, model {model_name}: {value} of the prompt tokens looked up in "
                f"the last {cache.window} were found in the prefix cache (below {percent(broken)} "
                f"for {terms.pending}). The mean prompt has {{prompt_tokens}} tokens."
            ),
            cause="{off}{short}{evicted}{unshared}",
            action=(
                f"{_CHECK_PREFIXES}\n"
                "- Where the model can never hit, name it under cache.exempt_models in the "
                "settings."
            ),
        ),
        lookups={"prompt_tokens": Lookup(mean_prompt(settings), ON_MODEL)},
        findings=reasons(settings),
    )


def wastes_memory(settings: Settings) -> Alert:
    """The GPU's memory is taken by a cache that does not pay off."""
    cache, terms = settings.cache, settings.alerts["VLLMPrefixCacheWastesMemory"]
    elevated, low = settings.memory.usage.elevated, cache.hit_rate.low
    return _on_hit_rate(
        settings,
        "VLLMPrefixCacheWastesMemory",
        low,
        Text(
            summary="A vLLM server holds much GPU memory for a prefix cache that does not pay off.",
            description=(
                "Server {server}, model {model_name}: {value} of the prompt tokens looked up in "
                f"the last {cache.window} were found in the prefix cache (below {percent(low)}), "
                f"while GPU memory is above {percent(elevated)}, both for {terms.pending}."
            ),
            cause="The memory is set aside for KV blocks that nobody asks for again.",
            action=(
                "- Make prompts share prefixes, so that the memory pays off; or\n"
                "- lower --gpu-memory-utilization: live requests seldom need all of it "
                "(see vllm:kv_cache_usage_perc), and the cache loses little."
            ),
        ),
        guards=(f"and on (instance) {memory_elevated_beside(settings)}",),
    )


def disabled(settings: Settings) -> Alert:
    """Prefix caching is switched off; good to know before wondering about the rate."""
    terms = settings.alerts["VLLMPrefixCacheDisabled"]
    off = served(settings, CACHE_CONFIG_INFO, 'enable_prefix_caching="False"')
    return Alert(
        name="VLLMPrefixCacheDisabled",
        measure=present(by(SERVER, "count", off)),
        terms=terms,
        labels=SERVER,
        text=Text(
            summary="A vLLM server runs without prefix caching.",
            description=(
                "Server {server} says that prefix caching is off (engines without it: {value}). "
                "It has no hit rate, and every prompt is computed in full."
            ),
            cause=(
                "The server was started with --no-enable-prefix-caching, or vLLM switched caching "
                "off because the model does not support it (its log says so)."
            ),
            action=(
                "Start the server with --enable-prefix-caching if the model supports it. If it "
                "shall stay off, add VLLMPrefixCacheDisabled to switched_off in the settings."
            ),
        ),
        panel=panels.HIT_RATE,
    )


def _on_hit_rate(
    settings: Settings,
    name: str,
    threshold: float,
    text: Text,
    *,
    guards: tuple[str, ...] = (),
    lookups: Mapping[str, Lookup] | None = None,
    findings: Mapping[str, Finding] | None = None,
) -> Alert:
    """Return an alert on a hit rate that is below ``threshold`` and means something."""
    rate = exported(settings, PREFIX_CACHE_HIT_RATE, not_exempt(settings))
    return Alert(
        name=name,
        measure=below(rate, threshold, "share"),
        terms=settings.alerts[name],
        labels=MODEL,
        guards=(*_meaningful(settings), *guards),
        text=text,
        panel=panels.HIT_RATE,
        lookups=lookups or {},
        findings=findings or {},
    )


def _meaningful(settings: Settings) -> tuple[str, ...]:
    """Guards on every hit rate: enough tokens, and a cache that had time to fill.

    A server whose exporter does not know its age counts as warm.
    """
    tokens = exported(settings, PREFIX_CACHE_WINDOW_QUERY_TOKENS)
    start = exported(settings, UPSTREAM_START_TIME)
    warm_up = number(settings.cache.warm_up.seconds)
    return (
        f"and {tokens} >= {number(settings.cache.minimum_tokens)}",
        f"unless on (instance, server) time() - {start} < {warm_up}",
    )


def _tokens(settings: Settings) -> dict[str, Lookup]:
    metric = exported(settings, PREFIX_CACHE_WINDOW_QUERY_TOKENS, MATCH)
    return {"tokens": Lookup(metric, ("instance", *ON_MODEL))}
