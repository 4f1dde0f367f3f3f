"""Alerts on the monitoring itself: what is not seen."""

from __future__ import annotations

from alerts import delivery, panels
from alerts.model import MATCH, Alert, Group, Lookup, Text, above, missing, present
from alerts.promql import GPU, MODEL, NOT_A_DRILL, SERVER, TARGET, by, exported, not_exempt, served
from alerts.settings import Settings
from exporter.catalogue import (
    CACHE_CONFIG_INFO,
    GPU_MEMORY_USED,
    PREFIX_CACHE_HIT_RATE,
    UPSTREAM_STATE,
    UPSTREAM_UP,
)
from exporter.generations import PROMPT_TOKENS


def group(settings: Settings) -> Group:
    """Return the rules on the monitoring itself."""
    return Group(
        name="vllm-monitoring",
        recordings=(),
        alerts=(
            delivery.watchdog(),
            exporter_down(settings),
            upstream_unreachable(settings),
            gpu_not_reported(settings),
            hit_rate_not_reported(settings),
            *delivery.alerts(settings),
        ),
    )


def exporter_down(settings: Settings) -> Alert:
    """The exporter does not answer, or is a target no more."""
    terms, remembered = settings.alerts["VLLMExporterDown"], settings.monitoring.remembered_for
    up = f"up{{{settings.selectors.exporters}}}"
    remembered_up = f"up{{{settings.selectors.exporters},{NOT_A_DRILL}}}"
    return Alert(
        name="VLLMExporterDown",
        measure=missing(f"({up} or 0 * max_over_time({remembered_up}[{remembered}]))"),
        terms=terms,
        labels=TARGET,
        text=Text(
            summary="The exporter beside vLLM does not answer.",
            description=(
                f"Exporter {{instance}} has not been scraped for {terms.pending}. Hit rate and GPU "
                "memory are unknown; their alerts cannot fire."
            ),
            cause="The exporter is stopped, crashed or unreachable, or no longer a target.",
            action=(
                "- Look at its log, and at its landing page (its address in a browser).\n"
                "- Start it again: python -m exporter --help."
            ),
        ),
        panel=panels.TARGETS_UP,
    )


def upstream_unreachable(settings: Settings) -> Alert:
    """The exporter lives and cannot read its server."""
    terms = settings.alerts["VLLMUpstreamUnreachable"]
    state = f"{exported(settings, UPSTREAM_STATE, MATCH)} == 1"
    return Alert(
        name="VLLMUpstreamUnreachable",
        measure=missing(exported(settings, UPSTREAM_UP)),
        terms=terms,
        labels=SERVER,
        text=Text(
            summary="The exporter cannot read a vLLM server's metrics.",
            description=(
                f"Exporter {{instance}} has not been able to read server {{server}} for "
                f"{terms.pending}: {{state}}. The server's hit rate is unknown."
            ),
            cause=(
                "The server is down, slow or behind a proxy that refuses the exporter, or the "
                "exporter's --vllm.url is wrong."
            ),
            action=(
                "- The exporter's log says in one line what went wrong and what to do.\n"
                "- Try the URL from the exporter's host: curl its /metrics."
            ),
        ),
        panel=panels.FETCHES,
        lookups={
            "state": Lookup(state, ("instance", "server"), missing="state unknown", label="state")
        },
    )


def gpu_not_reported(settings: Settings) -> Alert:
    """A GPU that was there is not any more, though its exporter is."""
    terms, remembered = settings.alerts["VLLMGPUNotReported"], settings.monitoring.remembered_for
    used = exported(settings, GPU_MEMORY_USED)
    up = f"up{{{settings.selectors.exporters}}}"
    return Alert(
        name="VLLMGPUNotReported",
        measure=present(by(GPU, "max", f"count_over_time({used}[{remembered}])")),
        terms=terms,
        labels=GPU,
        guards=(f"unless on (instance, uuid) {used}", f"and on (instance) {up} == 1"),
        text=Text(
            summary="A GPU that was reported is gone.",
            description=(
                f"GPU {{gpu}} ({{uuid}}) at exporter {{instance}} was read within the last "
                f"{remembered}, but not for {terms.pending}. Its memory alerts cannot fire."
            ),
            cause=(
                "The GPU fell off the bus, the driver was replaced under running programs, or MIG "
                "was set up anew."
            ),
            action=(
                "- nvidia-smi -L on the host, and dmesg for lines with Xid.\n"
                "- The exporter's log names NVML's error. After a driver update, restart what "
                "uses the GPU, the exporter included."
            ),
        ),
        panel=panels.GPU_MEMORY,
    )


def hit_rate_not_reported(settings: Settings) -> Alert:
    """Prompts come in, the exporter reads the server, and still there is no hit rate."""
    terms, window = settings.alerts["VLLMHitRateNotReported"], settings.cache.window
    prompts = served(settings, PROMPT_TOKENS, not_exempt(settings))
    off = served(settings, CACHE_CONFIG_INFO, 'enable_prefix_caching="False"')
    return Alert(
        name="VLLMHitRateNotReported",
        measure=above(
            by(MODEL, "sum", f"increase({prompts}[{window}])"),
            settings.cache.minimum_tokens,
            "count",
        ),
        terms=terms,
        labels=MODEL,
        guards=(
            f"unless on (server, model_name) {exported(settings, PREFIX_CACHE_HIT_RATE)}",
            f"unless on (server) {off}",
            f"and on (server) {exported(settings, UPSTREAM_UP)} == 1",
        ),
        text=Text(
            summary="A vLLM server has traffic and no prefix-cache hit rate.",
            description=(
                "Server {server}, model {model_name}: {value} prompt tokens came in within "
                f"{window}, and there has been no hit rate for {terms.pending}."
            ),
            cause=(
                "This vLLM names its counters otherwise, or all requests skip the look-up "
                "(prompt_logprobs, pooling)."
            ),
            action=(
                "- Compare the server's /metrics (vllm:prefix_cache_queries_total) with "
                "vllm_exporter_upstream_info.\n"
                "- If this model never looks anything up, name it under cache.exempt_models."
            ),
        ),
        panel=panels.TOKENS_LOOKED_UP,
    )
