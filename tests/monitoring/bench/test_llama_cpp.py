"""Another server than vLLM, measured by the command itself: a real llama-server on a CPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from monitoring import folders
from monitoring.bench.command import command
from monitoring.bench.servers import running
from monitoring.vllm import interpreter
from tests.monitoring.bench import llama_cpp

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

PREFIX, NEW, REQUESTS = 512, 32, 6


def test_shared_prefixes_are_measured_on_llama_cpp(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    file = llama_cpp.write_model(tmp_path / "model")
    component = llama_cpp.server(folders.tools(), file, free_port())
    with running(component, tmp_path) as url:
        result = CliRunner().invoke(
            command,
            [
                *("server", url, "--tokenizer", str(file.parent), "--json"),
                *("--python", str(interpreter.find(folders.tools()))),
                *("--output", str(tmp_path / "out"), "--prompts", "text", "--prompts", "tokens"),
                *("--prefix", str(PREFIX), "--new-tokens", str(NEW), "--output-tokens", "4"),
                *("--concurrency", "1", "--requests", str(REQUESTS), "--repeats", "1"),
            ],
        )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert [each["prompts"] for each in report["comparisons"]] == ["text", "tokens"]
    # It keeps the last prompt's cache, so 32 of 544 tokens are computed and not all.
    assert all(each["ttft_saved"] > 0.3 for each in report["comparisons"])
    for point in report["points"]:
        assert point["prompt_tokens"] == pytest.approx([PREFIX + NEW] * 2, abs=8)
        assert (point["hit_rate"], point["agreements"], point["ttft_split"]) == (None, [], None)
