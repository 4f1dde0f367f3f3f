"""A healthy little world: one server with one model and one GPU, and the programs that watch it.

Values are those of targets' pages; ``up`` is what Prometheus makes of a page that is not answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

GIB = 2**30
TOTAL = 80 * GIB
"""Bytes of the GPU's memory."""

_DAY = 86400.0

Target = Literal["server", "exporter", "prometheus", "alertmanager"]


@dataclass(frozen=True)
class Series:
    """One line of a target's page.

    Attributes:
        target: Whose page it is on.
        name: Name of the series.
        labels: Its labels on the page.
        value: Its value; None: it is not on the page.
        per_second: Whether ``value`` is a counter's growth per second.
        since_start: Whether ``value`` is a time before the start of the world, in seconds.
    """

    target: Target
    name: str
    labels: tuple[tuple[str, str], ...]
    value: float | None
    per_second: bool = False
    since_start: bool = False

    @property
    def key(self) -> tuple[Target, str, tuple[tuple[str, str], ...]]:
        """What identifies the series."""
        return self.target, self.name, self.labels

    def at(self, seconds: float, start: float) -> float | None:
        """Return the value ``seconds`` after the start of the world, which is Unix time ``start``.

        Of a counter that grew from 0 since then.
        """
        if self.value is None:
            return None
        if self.per_second:
            return self.value * seconds
        if self.since_start:
            return start - self.value
        return self.value


@dataclass(frozen=True)
class World:
    """The healthy world: one server with one model and one GPU, and what watches it.

    Attributes:
        model: Value of ``model_name``.
        server: Value of ``server``.
        uuid: The GPU's.
    """

    model: str = "gemma"
    server: str = "gpu1:8000"
    uuid: str = "GPU-1"
    series: tuple[Series, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "series",
            (*self._engine(), *self._requests(), *self._exporter(), *_chain()),
        )

    def of(self, name: str, value: float | None, **labels: str) -> Series:
        """Return the healthy world's series with another value.

        Args:
            name: Its name.
            value: The new value.
            labels: What tells it from others of its name.
        """
        for series in self.series:
            if series.name == name and labels.items() <= dict(series.labels).items():
                return replace(series, value=value)
        raise KeyError(name)

    def _engine(self) -> tuple[Series, ...]:
        engine = {"engine": "0", "model_name": self.model}

        def gauge(name: str, value: float, **labels: str) -> Series:
            return _gauge("server", name, value, engine | labels)

        def counter(name: str, value: float) -> Series:
            return _counter("server", name, value, engine)

        config = {
            "engine": "0",
            "gpu_memory_utilization": "0.8",
            "kv_cache_memory_bytes": "None",
        }
        return (
            gauge("vllm:num_requests_running", 2),
            gauge("vllm:num_requests_waiting", 0),
            gauge("vllm:kv_cache_usage_perc", 0.3),
            gauge("vllm:engine_sleep_state", 1, sleep_state="awake"),
            counter("vllm:prompt_tokens_total", 1000),
            counter("vllm:generation_tokens_total", 100),
            counter("vllm:num_preemptions_total", 0),
            counter("vllm:prefix_cache_queries_total", 1000),
            counter("vllm:prefix_cache_hits_total", 800),
            _gauge(
                "server", "vllm:cache_config_info", 1, config | {"enable_prefix_caching": "True"}
            ),
            _gauge(
                "server",
                "vllm:cache_config_info",
                None,
                config | {"enable_prefix_caching": "False"},
            ),
        )

    def _requests(self) -> tuple[Series, ...]:
        engine = {"engine": "0", "model_name": self.model}

        def counter(name: str, value: float, labels: Mapping[str, str]) -> Series:
            return _counter("server", name, value, labels)

        http = {"handler": "/v1/completions", "method": "POST"}
        return (
            counter("vllm:request_success_total", 1, engine | {"finished_reason": "stop"}),
            counter("vllm:request_success_total", 0, engine | {"finished_reason": "error"}),
            counter("vllm:request_prompt_tokens_sum", 1000, engine),
            counter("vllm:request_prompt_tokens_count", 1, engine),
            counter("vllm:time_to_first_token_seconds_bucket", 0.9, engine | {"le": "0.1"}),
            counter("vllm:time_to_first_token_seconds_bucket", 1, engine | {"le": "5.0"}),
            counter("vllm:time_to_first_token_seconds_bucket", 1, engine | {"le": "10.0"}),
            counter("vllm:time_to_first_token_seconds_bucket", 1, engine | {"le": "+Inf"}),
            counter("vllm:time_to_first_token_seconds_count", 1, engine),
            counter("http_requests_total", 1, http | {"status": "2xx"}),
            counter("http_requests_total", 0, http | {"status": "5xx"}),
        )

    def _exporter(self) -> tuple[Series, ...]:
        server = {"server": self.server}
        model = server | {"model_name": self.model}
        gpu = {"gpu": "0", "uuid": self.uuid}

        def gauge(name: str, value: float | None, labels: Mapping[str, str]) -> Series:
            return _gauge("exporter", name, value, labels)

        return (
            gauge("vllm:prefix_cache_hit_rate", 0.8, model),
            gauge("vllm:prefix_cache_window_query_tokens", 300_000, model),
            gauge("vllm:gpu_memory_utilization_limit", 0.8, server),
            gauge("vllm:gpu_memory_usage", 0.8, gpu),
            gauge("vllm:gpu_memory_used_bytes", 0.8 * TOTAL, gpu),
            gauge("vllm:gpu_memory_free_bytes", 16 * GIB, gpu),
            gauge("vllm:gpu_memory_total_bytes", TOTAL, gpu),
            gauge("vllm_exporter_upstream_up", 1, server),
            gauge("vllm_exporter_upstream_state", 1, server | {"state": "ok"}),
            gauge("vllm_exporter_upstream_state", 0, server | {"state": "unreachable"}),
            replace(
                gauge("vllm_exporter_upstream_start_time_seconds", _DAY, server), since_start=True
            ),
        )


def _chain() -> tuple[Series, ...]:
    def counter(target: Target, name: str, value: float, **labels: str) -> Series:
        return _counter(target, name, value, labels)

    return (
        _gauge("prometheus", "prometheus_config_last_reload_successful", 1, {}),
        counter("prometheus", "prometheus_rule_evaluation_failures_total", 0, rule_group="g"),
        counter("prometheus", "prometheus_notifications_sent_total", 0.1, alertmanager="a"),
        counter("prometheus", "prometheus_notifications_errors_total", 0, alertmanager="a"),
        _gauge("alertmanager", "alertmanager_config_last_reload_successful", 1, {}),
        counter("alertmanager", "alertmanager_notifications_total", 0.1, integration="webhook"),
        counter(
            "alertmanager",
            "alertmanager_notifications_failed_total",
            0,
            integration="webhook",
            reason="serverError",
        ),
    )


def _gauge(target: Target, name: str, value: float | None, labels: Mapping[str, str]) -> Series:
    return Series(target, name, tuple(sorted(labels.items())), value)


def _counter(target: Target, name: str, per_second: float, labels: Mapping[str, str]) -> Series:
    return replace(_gauge(target, name, per_second, labels), per_second=True)
