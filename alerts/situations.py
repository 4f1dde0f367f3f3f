"""For each alert, a situation in which it is due: what goes wrong in a healthy little world.

The tests play it to promtool, and an operator's drill plays it to a running chain, so that both
mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from alerts.world import TOTAL, Series, Target, World


@dataclass(frozen=True)
class Situation:
    """What goes wrong.

    Attributes:
        changed: Series with their values from then on, in place of those of the healthy world.
        silent: Target that does not answer from then on.
        gone: Target that is no longer one from then on.
    """

    changed: tuple[Series, ...] = ()
    silent: Target | None = None
    gone: Target | None = None


def situations(world: World) -> dict[str, Situation]:
    """Return a situation by name of the alert that it makes due."""
    of = world.of
    rate = "vllm:prefix_cache_hit_rate"
    no_rate = (of(rate, None), of("vllm:prefix_cache_window_query_tokens", None))
    bucket = "vllm:time_to_first_token_seconds_bucket"
    return {
        "VLLMPrefixCacheHitRateLow": Situation((of(rate, 0.4),)),
        "VLLMPrefixCacheIneffective": Situation((of(rate, 0.2),)),
        "VLLMPrefixCacheWastesMemory": Situation((of(rate, 0.4), *_memory(world, 0.875))),
        "VLLMPrefixCacheDisabled": Situation(
            (
                of("vllm:cache_config_info", None, enable_prefix_caching="True"),
                of("vllm:cache_config_info", 1, enable_prefix_caching="False"),
            )
        ),
        "VLLMGPUMemoryHigh": Situation(_memory(world, 0.95)),
        "VLLMGPUMemoryElevated": Situation(_memory(world, 0.875)),
        "VLLMGPUMemoryAboveLimit": Situation(_memory(world, 0.875)),
        "VLLMKVCacheSaturated": Situation(
            (of("vllm:kv_cache_usage_perc", 0.97), of("vllm:num_requests_waiting", 7))
        ),
        "VLLMPreemptions": Situation((of("vllm:num_preemptions_total", 1),)),
        "VLLMServerDown": Situation(silent="server"),
        "VLLMServerVanished": Situation(gone="server"),
        "VLLMStalled": Situation(
            (of("vllm:prompt_tokens_total", 0), of("vllm:generation_tokens_total", 0))
        ),
        "VLLMRequestErrors": Situation((of("http_requests_total", 1, status="5xx"),)),
        "VLLMRequestsQueueing": Situation((of("vllm:num_requests_waiting", 25),)),
        "VLLMTimeToFirstTokenHigh": Situation((of(bucket, 0, le="0.1"), of(bucket, 0, le="5.0"))),
        "VLLMExporterDown": Situation(silent="exporter"),
        "VLLMUpstreamUnreachable": Situation(
            (
                *no_rate,
                of("vllm_exporter_upstream_up", 0),
                of("vllm_exporter_upstream_state", 0, state="ok"),
                of("vllm_exporter_upstream_state", 1, state="unreachable"),
            )
        ),
        "VLLMGPUNotReported": Situation(
            tuple(replace(series, value=None) for series in _memory(world, 0))
        ),
        "VLLMHitRateNotReported": Situation(no_rate),
        "VLLMPrometheusReloadFailed": Situation(
            (of("prometheus_config_last_reload_successful", 0),)
        ),
        "VLLMPrometheusRuleFailures": Situation(
            (of("prometheus_rule_evaluation_failures_total", 0.2),)
        ),
        "VLLMPrometheusNotNotifying": Situation(
            (of("prometheus_notifications_errors_total", 0.1),)
        ),
        "VLLMAlertmanagerDown": Situation(silent="alertmanager"),
        "VLLMAlertmanagerReloadFailed": Situation(
            (of("alertmanager_config_last_reload_successful", 0),)
        ),
        "VLLMAlertmanagerNotDelivering": Situation(
            (of("alertmanager_notifications_failed_total", 0.1),)
        ),
        "Watchdog": Situation(),
    }


def _memory(world: World, usage: float) -> tuple[Series, ...]:
    """Return all series of the GPU's memory at a usage."""
    of = world.of
    return (
        of("vllm:gpu_memory_usage", usage),
        of("vllm:gpu_memory_used_bytes", usage * TOTAL),
        of("vllm:gpu_memory_free_bytes", (1 - usage) * TOTAL),
        of("vllm:gpu_memory_total_bytes", TOTAL),
    )
