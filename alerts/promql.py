"""Pieces of PromQL that alerts share."""

from __future__ import annotations

import re

from alerts.settings import Settings
from exporter.catalogue import ExportedMetric

TARGET = ("job", "instance")
"""Labels of what is said of a scraped program."""

SERVER = ("job", "instance", "server")
"""Labels of what is said of a server."""

MODEL = (*SERVER, "model_name")
"""Labels of what is said of a model on a server, its engines together."""

ENGINE = (*MODEL, "engine")
"""Labels of what is said of one engine of a model; old versions of vLLM have no ``engine``."""

ON_MODEL = ("server", "model_name")
"""Labels that the exporter's series on a model share with vLLM's own."""

GPU = ("job", "instance", "gpu", "uuid")
"""Labels of what is said of a GPU; ``instance`` is the exporter that reads it."""


NOT_A_DRILL = 'drill!="yes"'
"""Matcher on targets that were not made up for a drill, which nobody misses when they are gone."""


def served(settings: Settings, metric: str, *matchers: str) -> str:
    """Return a selector on a series of vLLM's own page."""
    return _select(metric, settings.selectors.servers, *matchers)


def exported(settings: Settings, metric: ExportedMetric, *matchers: str) -> str:
    """Return a selector on a series of the exporter."""
    return _select(metric.name, settings.selectors.exporters, *matchers)


def _select(metric: str, *matchers: str) -> str:
    return f"{metric}{{{','.join(matcher for matcher in matchers if matcher)}}}"


def not_exempt(settings: Settings) -> str:
    """Return a matcher that leaves out the models that can never hit; empty if there are none."""
    models = settings.cache.exempt_models
    if not models:
        return ""
    if len(models) == 1:
        return f"model_name!={_quoted(models[0])}"
    return f"model_name!~{_quoted('|'.join(_literal(model) for model in models))}"


def _literal(text: str) -> str:
    """Return a regular expression (RE2) that matches ``text`` only."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def by(labels: tuple[str, ...], operation: str, expression: str) -> str:
    """Return an aggregation to ``labels``."""
    return f"{operation} by ({', '.join(labels)}) ({expression})"


def total_rate(settings: Settings, labels: tuple[str, ...], counter: str, *matchers: str) -> str:
    """Return a counter's growth per second over ``service.window``, summed to ``labels``.

    Each series' rate is taken before the sum, so that one series' restart is not seen as a fall.
    """
    series = served(settings, counter, *matchers)
    return by(labels, "sum", f"rate({series}[{settings.service.window}])")
