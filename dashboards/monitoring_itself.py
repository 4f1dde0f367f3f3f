"""The board "vLLM: the monitoring itself"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import exporter_panels, figures, marks, uids, variables
from dashboards import watcher_panels as watchers
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
                    watchers.down_now(),
                    watchers.alerts_now(figures.firing_alerts(PROGRAMS)),
                    watchers.rule_failures_now(),
                    watchers.alertmanagers_now(),
                    watchers.prometheus_configuration(),
                    watchers.alertmanager_configuration(),
                ],
            ),
            Section(
                10,
                "Targets",
                [
                    watchers.targets_up(),
                    watchers.scrape_durations(settings),
                    watchers.scraped_samples(),
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
                    watchers.rule_durations(settings),
                    watchers.rule_failures(),
                    watchers.notifications(),
                    watchers.messages(),
                ],
            ),
            Section(
                40,
                "Prometheus and Alertmanager",
                [watchers.prometheus_series(), watchers.memory(), watchers.alertmanager_alerts()],
            ),
        ],
        templating=variables.of_programs(),
        annotations=[marks.firing_alerts(PROGRAMS)],
    )
