import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exporter.gpu import GPU, GPUError, GPUMemory, GPUSnapshot
from monitoring.budget import gpu
from monitoring.budget.command import command
from monitoring.vllm import model as tiny

GIB = 1024**3

CARD = ("--gpu-memory", "24GiB")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_exit_code_and_json_of_what_fits() -> None:
    result = run("llama-3.1-8b", "--gpu-memory", "24GiB", "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert data["budget"]["starts"] is True
    assert data["alert_fires"] is False
    assert "--max-num-seqs 8" in data["proposal"]["flags"]


def test_exit_code_of_what_does_not_fit() -> None:
    result = run("gemma-4-31b", "--gpu-memory", "24GiB")
    assert result.exit_code == 1
    assert "does not fit" in result.stdout


def test_exit_code_of_what_fits_and_alerts() -> None:
    result = run("llama-3.1-8b", "--gpu-memory", "24GiB", "--gpu-memory-utilization", "0.9")
    assert result.exit_code == 3
    assert "VLLMGPUMemoryHigh would fire for ever" in result.stdout


def test_the_threshold_is_that_of_the_settings(tmp_path: Path) -> None:
    settings = tmp_path / "my.yml"
    settings.write_text("memory: {usage: {high: 0.97}}\n")
    result = run(
        *("llama-3.1-8b", "--gpu-memory", "24GiB", "--gpu-memory-utilization", "0.9"),
        *("--settings", str(settings)),
    )
    assert result.exit_code == 0


def test_the_example_of_the_guide_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    guide = (Path(__file__).parents[3] / "docs/budget.md").read_text(encoding="utf-8")
    begin = "    $ python -m monitoring budget "
    shown = guide[guide.index(begin) :].split("\n\n", 1)[0].splitlines()
    printed = run(*shown[0].removeprefix(begin).split()).stdout.splitlines()
    assert [line[4:] for line in shown[1:]] == [line.rstrip() for line in printed]


def test_a_local_folder(tmp_path: Path) -> None:
    result = run(str(tiny.write(tmp_path / "tiny")), "--gpu-memory", "16GiB", "--json")
    assert json.loads(result.stdout)["model"] == "tiny"


def test_brackets_in_a_folders_name_are_shown_as_they_are(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "[red]tiny")
    assert "[red]tiny, bf16" in run(str(folder), "--gpu-memory", "16GiB").stdout


def test_preset_prints_published_and_computed() -> None:
    result = run("--preset", "gemma-4-31b-q4_k_m")
    assert result.exit_code == 0
    for expected in ("published", "needed", "vLLM", "19.9", "-7.9"):
        assert expected in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gemma-9", "--gpu-memory", "24GiB"), "neither a folder with a config.json nor"),
        (("--gpu-memory", "24"), "write it with its unit"),
        (("--gpu-memory", "0GiB"), "more than nothing"),
        (("llama-3.1-8b", "--gpu-memory", "24GiB", "--max-model-len", "200000"), "131072"),
        (("--gpu-memory", "24GiB", "--settings", "/nowhere.yml"), "/nowhere.yml"),
        ((*CARD, "--settings", ""), "write a path"),
        ((*CARD, "--gpu-memory-utilization", "nan"), "above 0 and at most 1"),
        ((*CARD, "--gpu-memory-utilization", "1e400"), "above 0 and at most 1"),
        ((*CARD, "--block-size", "9" * 400), "no whole number"),
        ((*CARD, "--max-num-seqs", "9" * 5000), "no whole number"),
        (("--gpu-memory", "9" * 400 + "GB"), "write it with its unit"),
        (("--gpu-memory", "9" * 20 + "GB"), "at most 1000000 GB"),
        ((*CARD, "x" * 5000), "File name too long"),
        ((*CARD, ""), "neither a folder"),
        (("llama-3.1-8b", *CARD, "--tensor-parallel-size", "3"), "one of 1, 2, 4, 8, 16, 32"),
        (("qwen3-8b", *CARD, "--tensor-parallel-size", "64"), "divide the model's 32 heads"),
        (("qwen3-8b", "--preset", "gemma-4-31b-q4_k_m"), "leave MODEL away"),
        ((*CARD, "--preset", "gemma-4-31b-q4_k_m"), "leave --gpu-memory away"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no JSON: line 1, column 1"),
        (b"\xff\xfe{", "is no UTF-8 text"),
        (b"[]", "must hold an object, not a list"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"hidden_size": ' + b"9" * 5000 + b"}", "a number that is too long"),
        (b" " * (16 * 1024**2 + 1), "more than 16 MiB"),
    ],
)
def test_a_file_that_is_no_config_is_told_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "config.json").write_bytes(content)
    result = run(str(tmp_path), *CARD)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert f"{tmp_path}/config.json " in result.stderr
    assert message in result.stderr


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    result = run(str(tmp_path), *CARD)
    assert result.exit_code == 2
    assert "config.json is not a file" in result.stderr


def test_a_broken_config_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    result = run(str(tmp_path), "--gpu-memory", "24GiB")
    assert result.exit_code == 2
    assert "config.json is no JSON: line 1, column 2" in result.stderr


class TwoCards:
    """A stand-in for the driver of two unlike GPUs."""

    name = "stand-in"

    def read(self) -> GPUSnapshot:
        memory = [GPUMemory(size * GIB, 0, size * GIB, GIB) for size in (80, 24)]
        return GPUSnapshot(
            "1", tuple(GPU(str(i), str(i), f"card {i}", each) for i, each in enumerate(memory))
        )

    def close(self) -> None:
        """Nothing to let go of."""


class NoCard(TwoCards):
    """A stand-in for a driver without GPUs."""

    def read(self) -> GPUSnapshot:
        return GPUSnapshot("1", ())


def test_the_smallest_card_limits_and_its_reserved_part_is_not_usable() -> None:
    assert gpu.asked(TwoCards()) == gpu.Card("card 1", 23 * GIB)


def test_no_card_is_an_error() -> None:
    with pytest.raises(GPUError, match="no GPU"):
        gpu.asked(NoCard())


@pytest.mark.parametrize(("size", "tokens"), [(24, 2048), (80, 8192), (180, 16384)])
def test_default_batches_follow_the_card(size: int, tokens: int) -> None:
    assert gpu.default_batched_tokens(size * GIB) == tokens
