"""The figures that several boards show, each as PromQL by server or by server and model."""

from __future__ import annotations

from dashboards import metrics
from dashboards.board import ALERTS
from dashboards.promql import (
    MODEL,
    Scope,
    by,
    on_server,
    quantile,
    rate,
    rate_or_zero,
    renamed,
    share,
)
from exporter.catalogue import GPU_MEMORY_USAGE, PREFIX_CACHE_HIT_RATE, UPSTREAM_UP

_SERVER = ("server",)


def reachable(scope: Scope) -> str:
    """1 or 0 by server: what the exporter says, else what Prometheus' own scrape says."""
    exporter = by(_SERVER, "max", scope.select(UPSTREAM_UP))
    scrape = by(_SERVER, "max", scope.select(metrics.UP))
    return f"{exporter} or {scrape}"


def servers(scope: Scope, state: int) -> str:
    """Count the servers that are reachable (1) or not (0)."""
    return f"count(({reachable(scope)}) == {state}) or vector(0)"


def firing_alerts(scope: Scope) -> str:
    """Count the kit's alerts that fire now."""
    return f"count({alerts(scope)}) or vector(0)"


def alerts(scope: Scope) -> str:
    """Return the kit's alerts that fire now."""
    matchers = ('alertstate="firing"', f'alertname=~"{ALERTS}.+"', scope.alerts)
    return f"{metrics.ALERTS.name}{{{','.join(filter(None, matchers))}}}"


def hit_rate(scope: Scope) -> str:
    """Return the prefix cache's hit rate (0..1) over the exporter's window, by model."""
    return by(MODEL, "max", scope.select(PREFIX_CACHE_HIT_RATE))


def gpu_memory(scope: Scope) -> str:
    """Return the fullest GPU's share of memory in use (0..1), by server."""
    return by(_SERVER, "max", on_server(scope, GPU_MEMORY_USAGE))


def kv_cache(scope: Scope) -> str:
    """Return the fullest engine's share of KV cache in use (0..1), by model."""
    return renamed(metrics.KV_CACHE_USAGE, lambda metric: by(MODEL, "max", scope.select(metric)))


def first_token(scope: Scope, q: float) -> str:
    """Return a quantile of the time to the first token in seconds, by model."""
    return quantile(scope, q, metrics.TIME_TO_FIRST_TOKEN)


def output_tokens(scope: Scope) -> str:
    """Return generated tokens per second, by model."""
    return rate(scope, metrics.GENERATION_TOKENS)


def running(scope: Scope) -> str:
    """Count the requests that are worked on, by model."""
    return by(MODEL, "sum", scope.select(metrics.NUM_REQUESTS_RUNNING))


def waiting(scope: Scope) -> str:
    """Count the requests that wait, by model."""
    return by(MODEL, "sum", scope.select(metrics.NUM_REQUESTS_WAITING))


def error_share(scope: Scope) -> str:
    """Return the share of requests that ended in an error (0..1), by server.

    An error of the engine may still be answered with status 200, as a stream has begun; an error
    of the web server never reaches the engine. The greater share counts.
    """
    http, engine = metrics.HTTP_REQUESTS, metrics.REQUEST_SUCCESS
    web = share(rate_or_zero(scope, http, _SERVER, 'status="5xx"'), rate(scope, http, _SERVER))
    wrong = rate_or_zero(scope, engine, _SERVER, 'finished_reason="error"')
    ended = share(wrong, rate(scope, engine, _SERVER))
    return by(
        _SERVER,
        "max",
        f'label_replace({web}, "seen_by", "web", "", "") or '
        f'label_replace({ended}, "seen_by", "engine", "", "")',
    )


def per_model(scope: Scope, by_server: str) -> str:
    """Repeat a figure of a server for each of its models; servers without any keep theirs."""
    models = f"({running(scope)} >= bool 0)"
    return (
        f"({by_server}) * on (server) group_right () {models} "
        f"or (({by_server}) unless on (server) {models})"
    )
