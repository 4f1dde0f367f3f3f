"""prometheus.yml, with the rules and the targets that go beside it, by the real promtool."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector

from alerts.settings import load
from exporter.catalogue import EXPORTED
from monitoring.prometheus import targets


class Page(Collector):
    """One sample of each metric of the exporter."""

    def collect(self) -> Iterator[Metric]:
        for metric in EXPORTED:
            family = metric.family()
            family.add_metric(["x"] * len(metric.labels), 1.0)
            yield family


@pytest.fixture(scope="module")
def configuration(root: Path) -> dict[str, Any]:
    text = (root / "monitoring/prometheus/prometheus.yml").read_text()
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def test_promtool_accepts_it_with_rules_and_targets(root: Path, promtool, tmp_path: Path) -> None:
    shutil.copy(root / "monitoring/prometheus/prometheus.yml", tmp_path)
    shutil.copytree(root / "alerts/generated", tmp_path / "rules")
    targets.write(
        targets.Targets(
            "http://vllm:8000", "exporter:18000", "localhost:9090", "alertmanager:9093"
        ),
        tmp_path / "targets",
    )
    done = promtool("check", "config", "--lint=all", "--lint-fatal", tmp_path / "prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    # A file of targets that is missing is only a warning.
    assert "WARNING" not in done.stdout + done.stderr
    assert "1 rule files found" in done.stdout


def test_intervals_are_the_settings(configuration) -> None:
    intervals = load().intervals
    assert configuration["global"]["scrape_interval"] == str(intervals.scrape)
    assert configuration["global"]["evaluation_interval"] == str(intervals.evaluation)
    for job in configuration["scrape_configs"]:
        assert "scrape_interval" not in job


def test_jobs_read_the_files_that_are_written(configuration) -> None:
    jobs = {job["job_name"]: job for job in configuration["scrape_configs"]}
    assert list(jobs) == ["vllm", "vllm-exporter", "prometheus", "alertmanager", "drill"]
    # Drills come and go: their file is looked at more often.
    assert jobs.pop("drill")["file_sd_configs"][0]["files"] == [f"targets/{targets.DRILLS}"]
    written = targets.Targets("http://v:1", "e:1", "p:1", "a:1").files()
    for name, job in jobs.items():
        assert job["file_sd_configs"] == [{"files": [f"targets/{name}.yml"]}]
        assert f"{name}.yml" in written
        assert not job.get("honor_labels")


def test_the_exporter_is_scraped_whole(configuration) -> None:
    (exporter,) = (j for j in configuration["scrape_configs"] if j["job_name"] == "vllm-exporter")
    assert "metric_relabel_configs" not in exporter


def test_promtool_complains_of_nothing_but_colons(promtool) -> None:
    """The exporter's page against `promtool check metrics`.

    A colon marks recording rules by convention, so promtool warns of one in a metric's name. The
    kit keeps it: vLLM's own metrics have it, and the guides that operators follow call the two
    headline gauges vllm:prefix_cache_hit_rate and vllm:gpu_memory_usage.
    """
    registry = CollectorRegistry()
    registry.register(Page())
    page = generate_latest(registry).decode()
    done = promtool("check", "metrics", input=page)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    colons = [line for line in complaints if "metric names should not contain ':'" in line]
    assert complaints == colons
    assert len(colons) == sum(":" in metric.name for metric in EXPORTED)
