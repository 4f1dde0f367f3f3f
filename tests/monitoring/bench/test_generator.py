"""The driver's protocol, with stand-ins for vLLM's modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from monitoring.bench.generator import GeneratorError, LoadGenerator
from monitoring.bench.scenario import Scenario, Target, arguments


def load(generator: LoadGenerator, seed: int) -> list[str]:
    shape = Scenario(512, True, 32, 16, 8, 20)
    return arguments(Target("http://s", "m", "t"), shape, seed, generator.folder, "r.json")


def test_several_runs_in_one_process(python: Path) -> None:
    with LoadGenerator(python) as generator:
        assert generator.run(load(generator, 1))["seed"] == "1"
        assert generator.run(load(generator, 2))["seed"] == "2"
        folder = Path(generator.folder)
    assert not folder.exists()


def test_a_failure_is_told_in_one_line_and_the_next_run_works(python: Path) -> None:
    with LoadGenerator(python) as generator:
        with pytest.raises(GeneratorError, match="ValueError: bad luck"):
            generator.run(load(generator, 13))
        assert generator.run(load(generator, 2))["seed"] == "2"


def test_a_process_that_was_killed_meanwhile_is_told(python: Path) -> None:
    """By the kernel, say, while a server takes all memory."""
    with LoadGenerator(python) as generator:
        generator.run(load(generator, 1))
        assert generator._process is not None
        generator._process.kill()
        generator._process.wait()
        with pytest.raises(GeneratorError, match="the load generator ended"):
            generator.run(load(generator, 2))


def test_failed_requests_are_not_measured_as_if_they_were_quick(python: Path) -> None:
    with (
        LoadGenerator(python) as generator,
        pytest.raises(GeneratorError, match=r"1 of 2 requests failed \(Boom\).*--max-model-len"),
    ):
        generator.run(load(generator, 14))


def test_prompts_are_sent_as_text_or_as_token_ids(python: Path) -> None:
    with LoadGenerator(python) as generator:
        tokens = generator.run(load(generator, 1), "tokens")
        text = generator.run(load(generator, 1), "text")
    assert text["prompts"] == ["ab", "c"]
    assert text["input_lens"] == [2, 1]
    # With the special token that the server would put in front of the text.
    assert tokens["prompts"] == [[1, ord("a"), ord("b")], [1, ord("c")]]
    assert tokens["input_lens"] == [3, 2]
    assert tokens["ignore_eos"] is True


def test_a_python_without_vllm_is_told() -> None:
    with pytest.raises(GeneratorError, match="No module named 'vllm'"):
        LoadGenerator(Path(sys.executable)).__enter__()
