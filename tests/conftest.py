"""Fixtures for all tests: the programs that check, and the metrics that exist."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import promql_parser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporter.catalogue import EXPORTED
from monitoring import binaries, folders

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "tests" / "recordings"

# What Prometheus makes itself, and its and Alertmanager's own pages, as far as rules read them.
OF_THE_CHAIN = {
    "up": {"server"},
    "ALERTS": {"alertname", "alertstate", "severity"},
    "prometheus_config_last_reload_successful": set(),
    "prometheus_config_last_reload_success_timestamp_seconds": set(),
    "prometheus_rule_evaluation_failures_total": {"rule_group"},
    "prometheus_notifications_sent_total": {"alertmanager"},
    "prometheus_notifications_errors_total": {"alertmanager"},
    "prometheus_notifications_alertmanagers_discovered": set(),
    "prometheus_notifications_queue_length": {"alertmanager"},
    "alertmanager_config_last_reload_successful": set(),
    "alertmanager_notifications_total": {"integration"},
    "alertmanager_notifications_failed_total": {"integration", "reason"},
}

Program = Callable[..., subprocess.CompletedProcess[str]]
Labels = dict[str, frozenset[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the exporter shows now into tests/**/golden instead of comparing with it",
    )


def _program(name: str) -> Program:
    found = binaries.find(name, folders.tools())
    if found is None:
        pytest.fail(f"{name} is missing: run `make test`, or `python -m monitoring setup --dev`")
    path = found.path

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [path, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            **options,  # type: ignore[call-overload]
        )

    return run


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def promtool() -> Program:
    """The real promtool."""
    return _program("promtool")


@pytest.fixture(scope="session")
def amtool() -> Program:
    """The real amtool."""
    return _program("amtool")


@pytest.fixture(scope="session")
def docker_compose() -> Program:
    """The real docker-compose."""
    return _program("docker-compose")


@pytest.fixture(scope="session")
def metric_labels() -> Labels:
    """Every series that Prometheus can have from the chain, and the labels that it may carry.

    From the recorded pages of vLLM and from the exporter's catalogue, with the labels that
    Prometheus adds: job and instance, and `server` to vLLM's own page.
    """
    labels: dict[str, set[str]] = {}
    for page in sorted(RECORDINGS.glob("*/*.txt")):
        for family in text_string_to_metric_families(page.read_text(encoding="utf-8")):
            for sample in family.samples:
                of_metric = labels.setdefault(sample.name, {"job", "instance", "server"})
                of_metric.update(sample.labels)
    for name, names in OF_THE_CHAIN.items():
        labels.setdefault(name, {"job", "instance"}).update(names)
    for metric in EXPORTED:
        labels.setdefault(metric.name, {"job", "instance"}).update(metric.labels)
    return {name: frozenset(names) for name, names in labels.items()}


@pytest.fixture(scope="session")
def selectors() -> Callable[[str], list[promql_parser.VectorSelector]]:
    """Parses PromQL and returns all its selectors; a ValueError says why it does not parse."""

    def find(expression: str) -> list[promql_parser.VectorSelector]:
        nodes: list[promql_parser.Expr] = []
        promql_parser.walk(promql_parser.parse(expression), pre_visit=nodes.append)
        return [node for node in nodes if isinstance(node, promql_parser.VectorSelector)]

    return find


@pytest.fixture(scope="session")
def result_labels(metric_labels: Labels) -> Callable[[str], frozenset[str]]:
    """Returns the labels that the result of a query can have."""

    def of(node: object) -> frozenset[str]:
        if isinstance(node, promql_parser.VectorSelector):
            return metric_labels[str(node.name)]
        if isinstance(node, promql_parser.MatrixSelector):
            return of(node.vector_selector)
        if isinstance(node, promql_parser.Call):
            return of(node.args[0])
        if isinstance(node, promql_parser.AggregateExpr):
            return frozenset(node.modifier.labels) if node.modifier else frozenset()
        if isinstance(node, promql_parser.BinaryExpr):
            added = node.modifier.group_labels if node.modifier else None
            return of(node.lhs) | frozenset(added or ())
        assert isinstance(node, promql_parser.ParenExpr), f"{type(node)} is new to the tests"
        return of(node.expr)

    return lambda expression: of(promql_parser.parse(expression))
