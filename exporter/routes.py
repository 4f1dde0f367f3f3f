"""Pages beside the metrics page that answer only where they are switched on."""

from __future__ import annotations

from exporter.probe import Prober, RefusedError
from exporter.reload import ConfigurationFile
from exporter.web import (
    SCRAPE_TIMEOUT_HEADER,
    Request,
    Response,
    Route,
    metrics_response,
    plain,
    scrape_timeout,
)


def probe_route(prober: Prober, timeout_seconds: float) -> Route:
    """Return the page ``/probe?target=``.

    A target that is down is no error of the request: its page says ``probe_success 0``.

    Args:
        prober: Fetches targets.
        timeout_seconds: Longest time that a probe may take.
    """

    def probe(request: Request) -> Response:
        if prober.policy is None:
            return plain(404, "Probes are off: give probe.allow in --config.file.")
        targets = request.query.get("target", ())
        if len(targets) != 1 or not targets[0]:
            return plain(400, "Give one target: /probe?target=http://10.0.0.5:8000")
        timeout = scrape_timeout(request.headers.get(SCRAPE_TIMEOUT_HEADER, ""), timeout_seconds)
        try:
            families = prober.probe(targets[0], timeout)
        except RefusedError as error:
            return plain(400, str(error))
        return metrics_response(families, request)

    return Route(probe, blocking=True)


def reload_route(configuration: ConfigurationFile | None, enabled: bool) -> Route:
    """Return the page that makes the exporter read its configuration again.

    Args:
        configuration: None without a file.
        enabled: Whether it may be asked to.
    """

    def reload(_request: Request) -> Response:
        if not enabled:
            return plain(403, "Reloading over HTTP is off: start with --web.enable-lifecycle.")
        if configuration is None:
            return plain(400, "There is no --config.file to read again.")
        problem = configuration.reload()
        return plain(500, f"Refused: {problem}") if problem else plain(200, "Reloaded.")

    return Route(reload, methods=("POST", "PUT"), blocking=True)
