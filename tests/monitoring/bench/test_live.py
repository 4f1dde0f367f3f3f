"""Prefix caching on against off, measured by the command itself on a real vLLM on a CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from monitoring import folders
from monitoring.bench.command import command
from monitoring.vllm import interpreter
from monitoring.vllm.server import START_SECONDS

pytestmark = [pytest.mark.live, pytest.mark.timeout(4 * START_SECONDS)]


def test_caching_on_answers_sooner_than_off(tmp_path: Path) -> None:
    python = interpreter.find(folders.tools())
    result = CliRunner().invoke(
        command,
        [
            *("on-off", "--python", str(python), "--output", str(tmp_path), "--json"),
            *("--prefix", "1024", "--concurrency", "2", "--requests", "6", "--repeats", "1"),
            *("--output-tokens", "4", "--port", "18995", "--exporter-port", "18996"),
        ],
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    off, on = report["points"]
    assert (off["setting"], on["setting"]) == ("caching off", "caching on")
    assert off["hit_rate"] is None
    # 1024 of 1056 tokens of each prompt were sent before.
    assert on["hit_rate"] == pytest.approx(1024 / 1056, abs=0.02)
    assert report["comparisons"][0]["ttft_saved"] > 0.3
    assert on["gauges"][0]["hit_rate"] > 0.3
    means = [each for each in on["agreements"] if each["name"] == "time to first token, mean"]
    assert [each["agrees"] for each in means] == [True]
    assert (tmp_path / "report.svg").read_text().startswith("<svg")
    assert "With caching against without" in (tmp_path / "report.md").read_text()
