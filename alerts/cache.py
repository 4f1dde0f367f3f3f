"""Alerts on the prefix cache."""

from __future__ import annotations

from alerts.model import Alert, Group, PanelReference, RecordingRule, percent
from alerts.settings import Settings
from exporter.catalogue import PREFIX_CACHE_HIT_RATE, PREFIX_CACHE_HITS, PREFIX_CACHE_QUERIES


def group(settings: Settings) -> Group:
    """Return the rules on the prefix cache."""
    return Group(
        name="vllm-cache",
        recordings=(hit_rate_from_counters(settings),),
        alerts=(hit_rate_low(settings),),
    )


def hit_rate_from_counters(settings: Settings) -> RecordingRule:
    """The hit rate as Prometheus itself computes it from vLLM's counters.

    A check on the exporter's figure, and what is left of it while the exporter is down. Engines
    are summed before dividing; without traffic there is no series.
    """
    labels = "server, model_name"
    window = settings.cache.window
    return RecordingRule(
        record="server_model_name:vllm_prefix_cache_hits_per_query:ratio_rate",
        query=(
            f"sum by ({labels}) (rate({PREFIX_CACHE_HITS}[{window}])) "
            f"/ (sum by ({labels}) (rate({PREFIX_CACHE_QUERIES}[{window}])) > 0)"
        ),
    )


def hit_rate_low(settings: Settings) -> Alert:
    """Fewer of the looked-up prompt tokens are found in the cache than pays off."""
    cache = settings.cache
    low, pending, window = cache.hit_rate.low, cache.low_for, cache.window
    return Alert(
        name="VLLMPrefixCacheHitRateLow",
        query=PREFIX_CACHE_HIT_RATE.name,
        comparison="<",
        threshold=low,
        unit="share",
        pending=pending,
        severity=cache.low_severity,
        labels=("server", "model_name"),
        summary="A vLLM server finds too few prompt tokens in its prefix cache.",
        description=(
            "Server {server}, model {model_name}: {value} of the prompt tokens looked up in the "
            f"last {window} were found in the prefix cache (below {percent(low)} for {pending}).\n"
            "Check whether\n"
            "- prompts share prefixes: the same text, in the same order, from the first token on;\n"
            "- shared prefixes are shorter than a cache block (--block-size; the server's log "
            "tells where a model needs larger blocks): only whole blocks are found again;\n"
            "- blocks are evicted before they are reused: KV-cache usage near 100%, preemptions."
        ),
        panel=PanelReference(
            dashboard_uid="vllm-cache-memory",
            panel_id=11,
            variables={"server": "server", "model": "model_name"},
        ),
    )
