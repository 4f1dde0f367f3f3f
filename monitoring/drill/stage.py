"""The made-up targets: a small web server that plays a world, well and then out of order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from alerts.situations import Situation
from alerts.world import Series, Target, World

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Stage:
    """Pages of a world's targets; `fail` makes a situation true from then on."""

    def __init__(self, world: World, clock: Callable[[], float] = time.time) -> None:
        """Take the world, which is well, and a clock of Unix time."""
        self._world = world
        self._clock = clock
        self._start = clock()
        self._failed_at: float | None = None
        self._situation = Situation()

    def fail(self, situation: Situation) -> None:
        """Let things go wrong."""
        self._situation = situation
        self._failed_at = self._clock()

    def page(self, target: str) -> str | None:
        """Return a target's page in Prometheus' text format; None: it does not answer."""
        now = self._clock()
        if self._failed_at is not None and target in (
            self._situation.silent,
            self._situation.gone,
        ):
            return None
        changed = {} if self._failed_at is None else {s.key: s for s in self._situation.changed}
        well = {series.key: series for series in self._world.series if series.target == target}
        now_true = well | {key: s for key, s in changed.items() if s.target == target}
        lines = []
        for key, series in now_true.items():
            value = self._value(well.get(key), series, now)
            if value is not None:
                labels = ",".join(f'{name}="{text}"' for name, text in series.labels)
                lines.append(f"{series.name}{{{labels}}} {value:.17g}\n")
        return "".join(lines)

    def _value(self, before: Series | None, after: Series, now: float) -> float | None:
        if self._failed_at is None or before is None or not after.per_second:
            return after.at(now - self._start, self._start)
        if after.value is None:
            return None
        grown = (before.value or 0) * (self._failed_at - self._start)
        return grown + after.value * (now - self._failed_at)


def serve(stage: Stage, host: str, port: int) -> ThreadingHTTPServer:
    """Serve a stage's pages at ``/TARGET`` in a thread; a silent target's is status 503.

    Raises:
        OSError: The address is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = stage.page(self.path.strip("/"))
            body = (page or "").encode()
            self.send_response(503 if page is None else 200)
            self.send_header("Content-Type", _CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002
            return

    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, name="stage", daemon=True).start()
    return server


def targets(identity: str, address: str, gone: Target | None = None) -> list[dict[str, object]]:
    """Return the entries of a targets file for a stage, less a target that is gone.

    Args:
        identity: Beginning with ``drill-``; the instance of all, and the name of the server.
        address: host:port of the stage, as Prometheus reaches it.
        gone: Target that shall not be one.
    """
    jobs: dict[Target, str] = {
        "server": "vllm",
        "exporter": "vllm-exporter",
        "prometheus": "prometheus",
        "alertmanager": "alertmanager",
    }
    entries: list[dict[str, object]] = []
    for target, job in jobs.items():
        labels = {
            "job": job,
            "instance": identity,
            "drill": "yes",
            "__metrics_path__": f"/{target}",
        }
        if target == "server":
            labels["server"] = identity
        if target != gone:
            entries.append({"targets": [address], "labels": labels})
    return entries
