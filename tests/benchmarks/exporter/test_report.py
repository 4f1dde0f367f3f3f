"""What the benchmark says of its figures."""

import json

import pytest

from tests.benchmarks.exporter import report
from tests.benchmarks.exporter.measurement import Result

MIB = 1024**2


def result(name, **changes):
    values = {
        "servers": 1,
        "delayed": False,
        "scrapes": 10_000,
        "p50": 0.003,
        "p99": 0.009,
        "total_p50": 0.004,
        "cpu": 0.003,
        "rss_ready": 40 * MIB,
        "rss_warm": 41 * MIB,
        "rss_end": 41 * MIB,
        "start": 0.5,
        "imported": 0.3,
    }
    return Result(name=name, **{**values, **changes})


def results(**changes):
    return [
        result("this exporter, 1 GPU"),
        result("this exporter, 8 GPUs", **changes),
        result("plain exporter, full parse", cpu=0.030),
        result("this exporter, 64 servers of 10 ms", total_p50=0.080),
    ]


def missed(found):
    return [verdict.target for verdict in found if not verdict.met]


def test_all_targets_are_met():
    found = report.verdicts(results())
    assert len(found) == 7
    assert missed(found) == []


@pytest.mark.parametrize(
    ("changes", "target"),
    [
        ({"p50": 0.006}, "added p50"),
        ({"cpu": 0.006}, "CPU a scrape"),
        ({"rss_end": 61 * MIB, "rss_warm": 60 * MIB}, "RSS under"),
        ({"rss_end": 44 * MIB}, "RSS flat"),
    ],
)
def test_target_is_missed(changes, target):
    (found,) = missed(report.verdicts(results(**changes)))
    assert found.startswith(target)


def test_what_was_not_measured_is_not_judged():
    assert report.verdicts([result("plain exporter, full parse")]) == []


def test_forms_agree():
    missing = {"nvitop-exporter": "not installed"}
    text = report.markdown(results(), missing)
    assert "| this exporter, 8 GPUs | 10000 | 3.00 ms | 9.00 ms | 3.00 ms | 40.0 MiB" in text
    assert "| nvitop-exporter | not installed |" in text
    content = json.loads(report.as_json(results(), missing))
    assert content["results"][1]["cpu"] == 0.003
    assert content["missing"] == missing
    assert len(content["targets"]) == 7
