"""The board "vLLM: the monitoring itself"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import delivery_panels as delivery
from dashboards import exporter_panels, figures, marks, uids, variables
from dashboards import target_panels as targets
from dashboards.board import Board, board
from dashboards.layer import Section
from dashboards.promql import PROGRAMS


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    return board(
        uids.MONITORING,
        "vLLM: the monitoring itself",
        "Can the other boards and the alerts be trusted?",
        [
            Section(
                0,
                "",
                [
                    targets.down_now(),
                    delivery.alerts_now(figures.firing_alerts(PROGRAMS)),
                    delivery.rule_failures_now(),
                    delivery.alertmanagers_now(),
                    delivery.prometheus_configuration(),
                    delivery.alertmanager_configuration(),
                ],
            ),
            Section(
                10,
                "Targets",
                [
                    targets.targets_up(),
                    targets.scrape_durations(settings),
                    targets.scraped_samples(),
                ],
            ),
            Section(
                20,
                "Exporter",
                [
                    exporter_panels.upstream_states(),
                    exporter_panels.upstream_durations(),
                    exporter_panels.collectors(),
                    exporter_panels.collector_durations(),
                    exporter_panels.gpus_readable(),
                ],
            ),
            Section(
                30,
                "Rules and notifications",
                [
                    delivery.rule_durations(settings),
                    delivery.rule_failures(),
                    delivery.notifications(),
                    delivery.messages(),
                ],
            ),
            Section(
                40,
                "Prometheus and Alertmanager",
                [targets.prometheus_series(), targets.memory(), delivery.alertmanager_alerts()],
            ),
        ],
        templating=variables.of_programs(),
        annotations=[marks.firing_alerts(PROGRAMS)],
    )
