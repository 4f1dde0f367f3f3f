"""Pieces of PromQL that panels share. Every selector is scoped by the boards' variables."""

from __future__ import annotations

from exporter.catalogue import UPSTREAM_UP, ExportedMetric

_VARIABLE = {"server": "$server", "model_name": "$model"}
"""Dashboard variable by label."""


def select(metric: str, *labels: str) -> str:
    """Return a selector on the chosen jobs and, for those of ``labels``, on the chosen values."""
    matchers = ['job=~"$job"', *(f'{label}=~"{_VARIABLE[label]}"' for label in labels)]
    return f"{metric}{{{','.join(matchers)}}}"


def exported(metric: ExportedMetric) -> str:
    """Return a selector on a metric of the exporter, scoped by all that its labels allow."""
    return select(metric.name, *(label for label in metric.labels if label in _VARIABLE))


def beside_server(metric: ExportedMetric) -> str:
    """Return a metric of a GPU with the label ``server`` of the server that the GPU works for.

    GPUs have no server of their own: one exporter stands beside one server, so the label comes
    from the exporter's report on it (whatever that report says; hence ``>= bool 0``, always 1).
    """
    server = f"({exported(UPSTREAM_UP)} >= bool 0)"
    return f"{exported(metric)} * on (job, instance) group_left (server) {server}"


def rate(counter: str, *labels: str) -> str:
    """Return a counter's growth per second, summed to ``labels``."""
    by = ", ".join(labels)
    return f"sum by ({by}) (rate({select(counter, *labels)}[$__rate_interval]))"
