"""The tiles that answer at a glance, common to the overview and the wallboard."""

from __future__ import annotations

from collections.abc import Callable

from alerts.settings import Settings
from dashboards import figures, scales
from dashboards.elements import (
    NONE_IS_BAD,
    NOT_REPORTED,
    SOME_IS_BAD,
    Link,
    Look,
    Query,
    Size,
)
from dashboards.layer import Panel, stat
from dashboards.promql import Scope

MODEL = "{{server}} {{model_name}}"
"""Legend of what is said of a model."""

SERVER = "{{server}}"
"""Legend of what is said of a server."""


class Tiles:
    """Tiles for one scope, with the settings' thresholds; links only where a board has them."""

    def __init__(
        self, scope: Scope, settings: Settings, to_cache: Link | None, to_latency: Link | None
    ) -> None:
        self._scope = scope
        self._settings = settings
        self._to_cache = (to_cache,) if to_cache else ()
        self._to_latency = (to_latency,) if to_latency else ()

    def servers_up(self, panel_id: int, size: Size) -> Panel:
        """Count the servers whose page is read."""
        return stat(
            panel_id,
            "Servers up",
            "vLLM servers whose metrics are being read. 0: no server is reachable, or nothing "
            "watches them; see the board on the monitoring itself.",
            size,
            [Query(figures.servers(self._scope, 1), "servers")],
            Look("short", NONE_IS_BAD, decimals=0, no_value=NOT_REPORTED),
        )

    def servers_unreachable(self, panel_id: int, size: Size) -> Panel:
        """Count the servers whose page cannot be read."""
        return stat(
            panel_id,
            "Down",
            "vLLM servers that are known and do not answer. The table below names them, and the "
            "exporter's log says why: look there first, then at the server's own log.",
            size,
            [Query(figures.servers(self._scope, 0), "servers")],
            Look("short", SOME_IS_BAD, decimals=0, no_value=NOT_REPORTED),
        )

    def firing_alerts(self, panel_id: int, size: Size) -> Panel:
        """Count the alerts that fire."""
        return stat(
            panel_id,
            "Alerts",
            "Alerts of this kit that fire now, in Prometheus. Their notifications and runbooks say "
            "what to do; Alertmanager lists them.",
            size,
            [Query(figures.firing_alerts(self._scope), "alerts")],
            Look("short", SOME_IS_BAD, decimals=0),
        )

    def hit_rate(self, panel_id: int, size: Size) -> Panel:
        """Show whether caching pays off."""
        return self._figure(
            panel_id,
            "Hit rate",
            f"Share of the prompt tokens looked up in the last {self._settings.cache.window} that "
            "the prefix cache had. Low: prompts share no prefixes, or what they share is shorter "
            "than a block or evicted too soon; see the runbook of VLLMPrefixCacheHitRateLow.",
            size,
            figures.hit_rate,
            MODEL,
            scales.hit_rate(self._settings),
            self._to_cache,
        )

    def gpu_memory(self, panel_id: int, size: Size) -> Panel:
        """Show whether memory is safe."""
        return self._figure(
            panel_id,
            "GPU memory",
            "Share of memory in use on the server's fullest GPU, by all processes, of what the "
            "driver leaves. High: see the runbook of VLLMGPUMemoryHigh; lower "
            "--gpu-memory-utilization or --max-num-seqs, look for other processes.",
            size,
            figures.gpu_memory,
            SERVER,
            scales.gpu_memory(self._settings),
            self._to_cache,
        )

    def kv_cache(self, panel_id: int, size: Size) -> Panel:
        """Show how much of the KV cache live requests hold."""
        return self._figure(
            panel_id,
            "KV cache in use",
            "Share of the KV cache that requests hold now, on the fullest engine. Near 100 % "
            "requests wait or are preempted: fewer at once (--max-num-seqs), shorter ones, or "
            "another server.",
            size,
            figures.kv_cache,
            MODEL,
            scales.kv_cache(self._settings),
            self._to_cache,
        )

    def first_token(self, panel_id: int, size: Size) -> Panel:
        """Show how long users wait for the first token."""
        return self._figure(
            panel_id,
            "Time to first token, p95",
            "95 of 100 requests had their first token faster than this, queueing included. High "
            "with requests waiting: too much load. High without: slow prefill of long prompts that "
            "the cache does not know.",
            size,
            lambda scope: figures.first_token(scope, 0.95),
            MODEL,
            scales.first_token(self._settings),
            self._to_latency,
        )

    def output_tokens(self, panel_id: int, size: Size) -> Panel:
        """Show what the servers deliver."""
        return self._figure(
            panel_id,
            "Output tokens per second",
            "Tokens generated per second, all requests together: the throughput. 0 while requests "
            "run means that the engine is stuck.",
            size,
            figures.output_tokens,
            MODEL,
            scales.COUNT,
            self._to_latency,
        )

    def running(self, panel_id: int, size: Size) -> Panel:
        """Show how many requests are worked on."""
        return self._figure(
            panel_id,
            "Running",
            "Requests in the engine's batch now. At --max-num-seqs, more can only wait.",
            size,
            figures.running,
            MODEL,
            Look("short", decimals=0, no_value=NOT_REPORTED),
            self._to_latency,
        )

    def waiting(self, panel_id: int, size: Size) -> Panel:
        """Show how many requests wait."""
        return self._figure(
            panel_id,
            "Waiting",
            "Requests that wait for a place in the batch. Some for a moment is normal; many for "
            "minutes means more load than the server bears: see the latency board.",
            size,
            figures.waiting,
            MODEL,
            scales.waiting(self._settings),
            self._to_latency,
        )

    def error_share(self, panel_id: int, size: Size) -> Panel:
        """Show how many requests fail."""
        return self._figure(
            panel_id,
            "Error share",
            "Share of requests that ended in an error, by the web server (status 5xx) or by the "
            "engine, whichever is greater. Above the threshold: read the server's log.",
            size,
            figures.error_share,
            SERVER,
            scales.error_share(self._settings),
            self._to_latency,
        )

    def _figure(
        self,
        panel_id: int,
        title: str,
        description: str,
        size: Size,
        figure: Callable[[Scope], str],
        legend: str,
        look: Look,
        links: tuple[Link, ...],
    ) -> Panel:
        query = Query(figure(self._scope), legend)
        return stat(panel_id, title, description, size, [query], look, sparkline=True, links=links)
