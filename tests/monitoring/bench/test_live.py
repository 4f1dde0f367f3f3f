"""Prefix caching on against off, measured by the command itself on a real vLLM on a CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from monitoring import folders
from monitoring.bench import figures
from monitoring.bench.command import command
from monitoring.bench.generator import LoadGenerator
from monitoring.bench.scenario import Prompts, Scenario, Target, arguments
from monitoring.bench.servers import ServerPlan, running, vllm
from monitoring.metrics_page import fetch
from monitoring.vllm import interpreter
from monitoring.vllm.server import CPU_BLOCK_TOKENS, START_SECONDS, TINY_MODEL_NAME

pytestmark = [pytest.mark.live, pytest.mark.timeout(4 * START_SECONDS)]


def test_caching_on_answers_sooner_than_off(tmp_path: Path) -> None:
    python = interpreter.find(folders.tools())
    result = CliRunner().invoke(
        command,
        [
            *("on-off", "--python", str(python), "--output", str(tmp_path), "--json"),
            *("--prefix", "1024", "--concurrency", "2", "--requests", "6", "--repeats", "1"),
            *("--prompts", "text", "--prompts", "tokens"),
            *("--output-tokens", "4", "--port", "18995", "--exporter-port", "18996"),
        ],
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    forms = [point["scenario"]["prompts"] for point in report["points"]]
    assert forms == ["text", "tokens"] * 2
    for off, on in zip(report["points"][:2], report["points"][2:], strict=True):
        assert (off["setting"], on["setting"]) == ("caching off", "caching on")
        assert off["hit_rate"] is None
        # 1024 of 1056 tokens of each prompt were sent before.
        assert on["hit_rate"] == pytest.approx(1024 / 1056, abs=0.02)
        assert on["prompt_tokens"] == pytest.approx([1056, 1056], abs=8)
        assert on["gauges"][0]["hit_rate"] > 0.3
        # Both clocks saw it, the client's from further away; by how much is up to the machine.
        names = [each["name"] for each in on["agreements"]]
        mean = on["agreements"][names.index("time to first token, mean")]
        assert 0 < mean["low"] == mean["high"] <= mean["client"]
        for point in (off, on):
            parts = point["ttft_split"]
            assert parts["requests"] == 6
            assert min(parts.values()) > 0
        assert on["ttft_split"]["prefill"] < 0.5 * off["ttft_split"]["prefill"]
    assert all(each["ttft_saved"] > 0.3 for each in report["comparisons"])
    assert (tmp_path / "report.svg").read_text().startswith("<svg")
    text = (tmp_path / "report.md").read_text()
    assert "With caching against without" in text
    assert "Where the time to first token goes" in text


def test_token_ids_are_those_that_the_server_makes_of_the_text(tmp_path: Path) -> None:
    python = interpreter.find(folders.tools())
    plan = ServerPlan(python, None, 18995, 18996, tmp_path, ())
    load = Scenario(608, False, 32, 2, 2, 6)
    found: dict[Prompts, tuple[list[int], figures.Server]] = {}
    with (
        LoadGenerator(python) as generator,
        running(vllm(plan, ()), tmp_path) as url,
    ):
        target = Target(url, TINY_MODEL_NAME, str(tmp_path / "tiny-model"))
        parts = arguments(target, load, 7, generator.folder, "result.json")
        forms: tuple[Prompts, ...] = ("text", "tokens")
        for form in forms:
            before = fetch(url, 10)
            lengths = generator.run(parts, form)["input_lens"]
            counted = figures.server(before, fetch(url, 10))
            assert counted is not None
            found[form] = (lengths, counted)
    (text_lengths, text), (token_lengths, tokens) = found["text"], found["tokens"]
    # The server's own count, whatever was meant.
    assert text_lengths == token_lengths
    assert text_lengths == pytest.approx([640] * 6, abs=8)
    assert text.found == 0
    # All whole blocks are found again, but for the last token's: it has to be computed.
    block = 2 * CPU_BLOCK_TOKENS
    assert tokens.found == sum((length - 1) // block * block for length in token_lengths)
    assert tokens.looked_up == text.looked_up == sum(text_lengths)
