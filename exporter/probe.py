"""``/probe?target=``: one central exporter for servers that Prometheus finds.

Off until the configuration allows targets: else whoever reaches the exporter could have it fetch
any address that it can reach.
"""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.addresses import default_server_name, parse_url
from exporter.collectors import Collectors
from exporter.collectors.server import ServerCollector
from exporter.options import ProbePolicy, Server

MAX_TARGETS = 1024
"""Most targets of which a window is kept; the one that was asked for longest ago goes first."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


class RefusedError(Exception):
    """The target is not probed. The message is a plain sentence for who asked."""


class _Target:
    """One target and what becomes of its pages."""

    def __init__(self, collector: ServerCollector) -> None:
        self.collector = collector
        self.page = Collectors([collector])


class Prober:
    """Fetches allowed targets on demand and remembers each one's window."""

    def __init__(
        self,
        policy: ProbePolicy | None,
        open_collector: Callable[[Server], ServerCollector],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what is allowed, what collects from one server, and a clock in seconds."""
        self._open_collector = open_collector
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._targets: OrderedDict[str, _Target] = OrderedDict()
        self.policy = policy

    def probe(self, target: str, timeout: float) -> list[Metric]:
        """Return the families of ``target``, to be had within ``timeout`` seconds.

        Raises:
            RefusedError: The target is none, or not allowed, or its CA file is gone.
        """
        url = allowed(target, self.policy)
        began = self._monotonic()
        families = self._target(url).page.collect(timeout)
        up = next((f for f in families if f.name == catalogue.UPSTREAM_UP.name), None)
        success = catalogue.PROBE_SUCCESS.family()
        success.add_metric([], float(up is not None and all(s.value == 1 for s in up.samples)))
        duration = catalogue.PROBE_DURATION.family()
        duration.add_metric([], self._monotonic() - began)
        # What tells of the exporter itself stands on its own page.
        own = {
            metric.name
            for metric in (
                catalogue.BUILD_INFO,
                catalogue.COLLECTOR_SUCCESS,
                catalogue.COLLECTOR_DURATION,
            )
        }
        return [*(family for family in families if family.name not in own), success, duration]

    def _target(self, url: str) -> _Target:
        policy = self.policy
        if policy is None:
            raise RefusedError("Probes are off.")
        server = replace(policy.template, name=default_server_name(url), url=url)
        with self._lock:
            target = self._targets.get(url)
            try:
                if target is None:
                    target = self._targets[url] = _Target(self._open_collector(server))
                elif target.collector.servers != (server,):
                    target.collector.replace([server])
            except OSError as error:
                raise RefusedError(
                    f"probe.ca_file cannot be read any more ({error.strerror}): correct it."
                ) from error
            self._targets.move_to_end(url)
            while len(self._targets) > MAX_TARGETS:
                self._targets.popitem(last=False)
        return target


def allowed(target: str, policy: ProbePolicy | None) -> str:
    """Return the URL of ``target`` if it may be fetched.

    Args:
        target: URL of a server, or host:port for http.
        policy: What is allowed; None for nothing.

    Raises:
        RefusedError: It may not.
    """
    if policy is None:
        raise RefusedError("Probes are off: give probe.allow in --config.file.")
    try:
        url = parse_url(target if "://" in target else f"http://{target}")
    except ValueError as error:
        raise RefusedError(
            "The target is no URL of a server: write target=http://10.0.0.5:8000"
        ) from error
    parts = urlsplit(url)
    # Nothing but scheme, host, port and path is compared, so nothing else may be in it.
    plain = parts.username is None and not parts.query and not parts.fragment
    if not plain or not any(_matches(url, pattern) for pattern in policy.allow):
        raise RefusedError("The target is not allowed: add it to probe.allow in --config.file.")
    return url


def _matches(url: str, pattern: str) -> bool:
    asked, allows = urlsplit(url), urlsplit(pattern)
    # A star stands for one part of a name: 10.0.0.* must not allow 10.0.0.1.example.com.
    host = "[^.]+".join(re.escape(part) for part in (allows.hostname or "").split("*"))
    return (
        asked.scheme == allows.scheme
        and (asked.port or _DEFAULT_PORTS[asked.scheme])
        == (allows.port or _DEFAULT_PORTS[allows.scheme])
        and re.fullmatch(host, asked.hostname or "") is not None
        and _root(asked.path) == _root(allows.path)
    )


def _root(path: str) -> str:
    return path.rstrip("/").removesuffix("/metrics")
