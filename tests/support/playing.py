"""Playing worlds to the real promtool."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import yaml

from alerts import catalogue, chinese, prometheus
from alerts.model import Alert
from alerts.settings import Settings
from alerts.situations import Situation
from alerts.world import Series, Target, World

SCRAPE = 15
FAULT = 330
"""Seconds after the start of the world at which things go wrong; rates are settled by then."""

ADDRESS: dict[Target, dict[str, str]] = {
    "server": {"job": "vllm", "instance": "gpu1:8000", "server": "gpu1:8000"},
    "exporter": {"job": "vllm-exporter", "instance": "gpu1:18000"},
    "prometheus": {"job": "prometheus", "instance": "gpu1:19090"},
    "alertmanager": {"job": "alertmanager", "instance": "gpu1:19093"},
}


@dataclass(frozen=True)
class Story:
    """A world, what goes wrong in it from `FAULT` on, and for how long it is watched."""

    situation: Situation
    seconds: int
    world: World = field(default_factory=World)
    extra: Mapping[str, str] | None = None
    """Further input series, in promtool's notation."""
    base: tuple[Series, ...] | None = None
    """The pages before the fault, if not the world's."""
    heals_after: int | None = None
    """Seconds after the fault at which all is well again."""

    def input_series(self) -> list[dict[str, str]]:
        healthy = {series.key: series for series in self.base or self.world.series}
        faulty = healthy | {series.key: series for series in self.situation.changed}
        lines = [self._line(healthy.get(key), series) for key, series in faulty.items()]
        lines += [self._up(target) for target in ADDRESS]
        lines += [{"series": name, "values": values} for name, values in (self.extra or {}).items()]
        return [line for line in lines if line["values"].strip("_ ")]

    def _faulty(self, second: int) -> bool:
        healed = self.heals_after is not None and second >= FAULT + self.heals_after
        return second >= FAULT and not healed

    def _line(self, before: Series | None, after: Series) -> dict[str, str]:
        values: list[str] = []
        grown = 0.0
        for second in range(0, self.seconds + SCRAPE, SCRAPE):
            faulty = self._faulty(second)
            series = after if faulty else (before or after)
            away = faulty and after.target in (self.situation.silent, self.situation.gone)
            if series.value is None or (before is None and not faulty) or away:
                values.append("stale" if values and values[-1] not in ("_", "stale") else "_")
                continue
            if series.per_second:
                grown += series.value * SCRAPE
                values.append(f"{grown:.10g}")
            else:
                values.append(f"{series.at(0, 0):.17g}")
        labels = ADDRESS[after.target] | dict(after.labels)
        return {"series": _selector(after.name, labels), "values": " ".join(values)}

    def _up(self, target: Target) -> dict[str, str]:
        values: list[str] = []
        for second in range(0, self.seconds + SCRAPE, SCRAPE):
            if self._faulty(second) and self.situation.gone == target:
                values.append("stale" if values[-1] not in ("_", "stale") else "_")
            else:
                silent = self._faulty(second) and self.situation.silent == target
                values.append("0" if silent else "1")
        return {"series": _selector("up", ADDRESS[target]), "values": " ".join(values)}


def _selector(name: str, labels: Mapping[str, str]) -> str:
    matchers = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{matchers}}}"


class Promtool:
    """promtool, with rules built from some settings."""

    def __init__(self, path: Path, folder: Path, settings: Settings) -> None:
        self._path, self._folder, self._settings = path, folder, settings

    def test(self, tests: Iterable[dict[str, Any]], only: str | None = None) -> None:
        """Run unit tests of all rules, or of one alert; fail with promtool's own words."""
        groups = [
            replace(group, alerts=tuple(a for a in group.alerts if only is None or a.name == only))
            for group in catalogue.groups(self._settings)
        ]
        (self._folder / "rules.yml").write_text(
            prometheus.render(groups, self._settings), encoding="utf-8"
        )
        document = {
            "rule_files": ["rules.yml"],
            "evaluation_interval": str(self._settings.intervals.evaluation),
            "tests": [{"interval": f"{SCRAPE}s", **test} for test in tests],
        }
        file = self._folder / "test.yml"
        file.write_text(yaml.safe_dump(document, sort_keys=False, width=1000), encoding="utf-8")
        done = subprocess.run(
            [self._path, "test", "rules", file], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def fires(self, name: str, at: int, expected: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the check that at a second these alerts of a name fire, and no others."""
        return {"eval_time": f"{at}s", "alertname": name, "exp_alerts": expected}


def expected(
    alert: Alert,
    settings: Settings,
    labels: Mapping[str, str],
    shown: Mapping[str, str],
    said: Collection[str] = (),
) -> dict[str, Any]:
    """Return an alert as promtool compares it, with texts filled here, not by its templates.

    Args:
        alert: The alert.
        settings: What it was built from.
        labels: Labels of its series.
        shown: Value and lookups as a reader sees them.
        said: Its findings that hold.
    """
    annotations = {}
    for suffix, text in (("", alert.text), ("_zh", chinese.text(alert, settings))):
        sentences = {}
        for name, finding in alert.findings.items():
            sentence = text.findings.get(name, finding.text)
            holds = name in said
            sentences[name] = sentence.format_map({**labels, **shown}) if holds else ""
        for name, part in text.parts():
            annotations[name + suffix] = part.format_map({**labels, **shown, **sentences})
    url = f"http://127.0.0.1:13000/d/{alert.panel.dashboard_uid}?viewPanel={alert.panel.panel_id}"
    for variable, label in alert.panel.variables.items():
        if label in labels:
            url += f"&var-{variable}={quote_plus(labels[label])}"
    annotations["dashboard_url"] = url
    annotations["runbook_url"] = f"http://127.0.0.1:19090/user/runbooks/{alert.name}.md"
    return {
        "exp_labels": {**labels, "severity": alert.terms.severity},
        "exp_annotations": annotations,
    }
