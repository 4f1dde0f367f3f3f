"""Pieces of PromQL that panels share. Every selector is narrowed by a scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from alerts.settings import Settings
from dashboards.metrics import Metric, Page, Renamed
from exporter.catalogue import SERVER_GPU_INFO, UPSTREAM_UP, ExportedMetric

INTERVAL = "[$__rate_interval]"
"""The range of every rate: Grafana makes it long enough for the scrape interval."""

MODEL = ("server", "model_name")
"""Labels of what is said of a model on a server, its engines together."""

NO_SERVER = "no server"
"""Label ``server`` of a GPU that no server is known to use."""

Series = Metric | ExportedMetric


@dataclass(frozen=True)
class Scope:
    """Which series a board looks at.

    Attributes:
        jobs: Matchers that find the targets of each page, as they stand between braces.
        labels: Matcher for each label that a metric may have.
        alerts: Matchers on alerts.
    """

    jobs: Mapping[Page, str]
    labels: Mapping[str, str]
    alerts: str = ""

    def select(self, series: Series, *matchers: str) -> str:
        """Return a selector on the series, narrowed by all that its labels allow."""
        narrowed = [self.labels[label] for label in series.labels if label in self.labels]
        # Not every exported metric is on a page of its own: a probe's has no labels at all.
        page: Page = "exporter" if isinstance(series, ExportedMetric) else series.page
        wanted = [self.jobs.get(page, ""), *narrowed, *matchers]
        return f"{series.name}{{{','.join(filter(None, wanted))}}}"


_JOB = 'job=~"$job"'

CHOSEN = Scope(
    jobs=dict.fromkeys(("server", "exporter", "target"), _JOB),
    labels={"server": 'server=~"$server"', "model_name": 'model_name=~"$model"'},
    # Some alerts have neither job nor server: those on what is gone.
    alerts='job=~"$job|",server=~"$server|"',
)
"""What the variables of a board of servers say."""

PROGRAMS = Scope(
    jobs=dict.fromkeys(
        ("server", "exporter", "target", "prometheus", "alertmanager"),
        f'{_JOB},instance=~"$instance"',
    ),
    labels={},
    alerts='job=~"$job|"',
)
"""What the variables of a board of programs say."""


def everything(settings: Settings) -> Scope:
    """Return the scope of a board without variables: all targets of the settings' jobs."""
    selectors = settings.selectors
    return Scope(
        jobs={
            "server": selectors.servers,
            "exporter": selectors.exporters,
            "target": selectors.servers,
        },
        labels={},
    )


def by(labels: tuple[str, ...], operation: str, expression: str) -> str:
    """Return an aggregation to ``labels``."""
    return f"{operation} by ({', '.join(labels)}) ({expression})"


def renamed(metric: Renamed, query: Callable[[Metric], str]) -> str:
    """Return ``query`` of the metric's new name, or of its old one where there is no new.

    Some releases of vLLM write both names; ``or`` takes the new one only.
    """
    return f"{query(metric.new)} or {query(metric.old)}"


def rate(scope: Scope, counter: Series, labels: tuple[str, ...] = MODEL, *matchers: str) -> str:
    """Return a counter's growth per second, summed to ``labels``."""
    return by(labels, "sum", f"rate({scope.select(counter, *matchers)}{INTERVAL})")


def rate_or_zero(scope: Scope, counter: Series, labels: tuple[str, ...], *matchers: str) -> str:
    """Return the rate of a part of a counter, 0 where only the rest of it exists."""
    part = rate(scope, counter, labels, *matchers)
    return f"({part} or 0 * {rate(scope, counter, labels)})"


def share(part: str, whole: str) -> str:
    """Return a part of a whole (0..1), nothing where the whole is 0."""
    return f"{part} / ({whole} > 0)"


def quantile(
    scope: Scope, q: float, buckets: Metric | Renamed, labels: tuple[str, ...] = MODEL
) -> str:
    """Return a quantile of a histogram, its series of the same ``labels`` together.

    Where nothing was observed the quantile is NaN; the comparison leaves it out.
    """

    def of(metric: Metric) -> str:
        rates = rate(scope, metric, ("le", *labels))
        return f"histogram_quantile({q:g}, {rates}) >= 0"

    return renamed(buckets, of) if isinstance(buckets, Renamed) else of(buckets)


def distribution(scope: Scope, buckets: Metric) -> str:
    """Return how many observations each bucket of a histogram got, for a heatmap."""
    return f"sum by (le) (increase({scope.select(buckets)}{INTERVAL}))"


def on_server(scope: Scope, metric: ExportedMetric) -> str:
    """Return a metric of a GPU with the label ``server`` of each server that uses the GPU.

    An exporter that was told which server uses which GPU says so in ``vllm:server_gpu_info``. One
    that was not told, and watches one server, stands beside it: the GPUs are that server's. What
    remains belongs to nobody known and is `NO_SERVER`'s.
    """
    told = f"{scope.select(SERVER_GPU_INFO)}"
    any_told = _any_server(scope, SERVER_GPU_INFO)
    of_gpu = scope.select(metric)
    only_one = f"count by (job, instance) ({_any_server(scope, UPSTREAM_UP)}) == 1"
    gpu = "on (job, instance, gpu, uuid)"
    return (
        f"{told} * {gpu} group_left () {of_gpu}\n"
        f"or ({of_gpu} unless {gpu} {any_told}) * on (job, instance) group_left (server) "
        # Whatever the report says: the comparison makes it 1.
        f"(({scope.select(UPSTREAM_UP)} >= bool 0) and on (job, instance) ({only_one}))\n"
        f"or label_replace(({of_gpu} unless {gpu} {any_told}) unless on (job, instance) "
        f'({only_one}), "server", "{NO_SERVER}", "", "")'
    )


def _any_server(scope: Scope, metric: ExportedMetric) -> str:
    """Return a selector on all servers' series, also on those that are not chosen."""
    return Scope(scope.jobs, {}).select(metric)
