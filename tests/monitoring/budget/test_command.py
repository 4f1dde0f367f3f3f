import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exporter.gpu import GPU, GPUError, GPUMemory, GPUSnapshot
from monitoring.budget import gpu
from monitoring.budget.command import command
from monitoring.vllm import model as tiny

GIB = 1024**3


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


def test_a_local_folder(tmp_path: Path) -> None:
    result = run(str(tiny.write(tmp_path / "tiny")), "--gpu-memory", "16GiB", "--json")
    assert json.loads(result.stdout)["model"] == "tiny"


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
    ],
)
def test_bad_input_is_told_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_a_broken_config_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    result = run(str(tmp_path), "--gpu-memory", "24GiB")
    assert result.exit_code == 2
    assert "cannot be read as JSON" in result.stderr


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
