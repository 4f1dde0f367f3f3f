"""Observations from Prometheus: one for each server that it scrapes."""

from __future__ import annotations

import math
from collections.abc import Callable

from monitoring.advise.observation import Configuration, GPUObservation, Observation
from monitoring.advise.pages import configuration
from monitoring.prometheus_api import NoPrometheusError, Prometheus, PrometheusError, Sample


class SourceError(Exception):
    """Nothing can be observed; the message is one line that says what to do."""


Query = Callable[[str], list[Sample]]
"""Evaluates an expression now and returns its series."""


def query_of(url: str) -> Query:
    """Return a function that asks the Prometheus at ``url``; it raises `SourceError`."""
    prometheus = Prometheus(url)

    def query(expression: str) -> list[Sample]:
        try:
            samples = prometheus.query(expression)
        except NoPrometheusError as error:
            raise SourceError(
                f"{error}; start it, correct --prometheus, or observe a server directly with "
                "--vllm-url"
            ) from None
        except PrometheusError as error:
            raise SourceError(str(error)) from None
        return [each for each in samples if math.isfinite(each.value)]

    return query


def observe(query: Query, minutes: float, server: str | None = None) -> list[Observation]:
    """Return what Prometheus saw of each server in the last minutes.

    Args:
        query: Asks Prometheus.
        minutes: How far to look back.
        server: Only this value of the label ``server``.

    Raises:
        SourceError: Prometheus does not answer, or knows no vLLM server.
    """
    known = {
        each.labels.get("server", "")
        for each in query("count by (server) (vllm:cache_config_info)")
    }
    wanted = sorted(known if server is None else known & {server})
    if not wanted:
        names = ", ".join(sorted(known))
        raise SourceError(
            f"Prometheus knows no server {server}; it knows {names}"
            if known
            else "Prometheus has no vLLM metrics: is the job `vllm` up (Status, Targets)?"
        )
    return [_observe_one(query, name, f"{round(minutes * 60)}s", minutes) for name in wanted]


def _observe_one(query: Query, server: str, span: str, minutes: float) -> Observation:
    selector = f"{{server={_quoted(server)}}}"

    def one(expression: str) -> float:
        values = query(expression)
        return values[0].value if values else 0.0

    def increase(name: str) -> float:
        return one(f"sum(increase({name}{selector}[{span}]))")

    def over_time(function: str, name: str, across: str = "sum") -> float:
        # Engines are joined at each moment, then looked at over time.
        return one(f"{function}_over_time({across}({name}{selector})[{span}:15s])")

    told = configuration([each.labels for each in query(f"vllm:cache_config_info{selector}")])
    return Observation(
        server=server,
        seconds=60 * minutes,
        looked_up=increase("vllm:prefix_cache_queries_total"),
        found=increase("vllm:prefix_cache_hits_total"),
        requests=increase("vllm:request_prompt_tokens_count"),
        prompt_tokens=increase("vllm:request_prompt_tokens_sum"),
        preemptions=increase("vllm:num_preemptions_total"),
        running=over_time("avg", "vllm:num_requests_running"),
        running_most=over_time("max", "vllm:num_requests_running"),
        waiting=over_time("avg", "vllm:num_requests_waiting"),
        cache_usage=over_time("avg", "vllm:kv_cache_usage_perc", "max"),
        cache_usage_most=over_time("max", "vllm:kv_cache_usage_perc", "max"),
        gpus=_gpus(query, selector, span),
        configuration=told or Configuration(),
    )


def _gpus(query: Query, selector: str, span: str) -> tuple[GPUObservation, ...]:
    """Return the GPUs that the exporter of this server reads."""
    # The GPU series have no server; the exporter that tells of this server does.
    beside = f"and on (instance) vllm_exporter_upstream_up{selector}"
    usable = {
        each.labels.get("uuid", ""): each.value
        for each in query(
            "(vllm:gpu_memory_total_bytes - (vllm:gpu_memory_reserved_bytes or "
            f"0 * vllm:gpu_memory_total_bytes)) {beside}"
        )
    }
    others = {
        each.labels.get("uuid", ""): round(each.value)
        for each in query(f"max_over_time(vllm:gpu_memory_other_bytes[{span}]) {beside}")
    }
    used = query(f"max_over_time(vllm:gpu_memory_usage[{span}]) {beside}")
    return tuple(
        GPUObservation(uuid, each.value, round(usable[uuid]), others.get(uuid))
        for each in used
        if (uuid := each.labels.get("uuid", "")) in usable
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
