"""The driver's protocol, with stand-ins for vLLM's modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from monitoring.bench.generator import GeneratorError, LoadGenerator
from monitoring.bench.scenario import Scenario, Target, arguments

SERVE = """\
import json, pathlib
def add_cli_args(parser):
    for flag in ("--seed", "--result-dir", "--result-filename", "--num-prompts"):
        parser.add_argument(flag)
def main(args):
    print("much noise")
    if args.seed == "13":
        raise ValueError("bad\\nluck")
    failed = 1 if args.seed == "14" else 0
    result = {"seed": args.seed, "failed": failed, "num_prompts": 2, "errors": ["", "Trace\\nBoom"]}
    (pathlib.Path(args.result_dir) / args.result_filename).write_text(json.dumps(result))
"""
ARGUMENTS = """\
import argparse
class FlexibleArgumentParser(argparse.ArgumentParser):
    def parse_args(self, args):
        return self.parse_known_args(args)[0]
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python whose vLLM is a stand-in."""
    for name, text in (
        ("vllm/__init__.py", ""),
        ("vllm/benchmarks/__init__.py", ""),
        ("vllm/benchmarks/serve.py", SERVE),
        ("vllm/utils/__init__.py", ""),
        ("vllm/utils/argparse_utils.py", ARGUMENTS),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return script


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


def test_failed_requests_are_not_measured_as_if_they_were_quick(python: Path) -> None:
    with (
        LoadGenerator(python) as generator,
        pytest.raises(GeneratorError, match=r"1 of 2 requests failed \(Boom\).*--max-model-len"),
    ):
        generator.run(load(generator, 14))


def test_a_python_without_vllm_is_told() -> None:
    with pytest.raises(GeneratorError, match="No module named 'vllm'"):
        LoadGenerator(Path(sys.executable)).__enter__()
