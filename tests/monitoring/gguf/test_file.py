"""What is refused before a server is started, and how."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from monitoring import programs, up
from monitoring.errors import SetupError
from monitoring.gguf import file, install, text, tiny
from monitoring.gguf.install import Versions

PYTHON = Path(sys.executable)
EMPTY = b"GGUF\3" + bytes(19)
"""A whole file of nothing."""

CUT = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q1sIQQIQ", 1, b"a", 2, 8, 8, 1, 0)
"""The header of one tensor, which is missing."""

WHOLE = {"model_type": "gemma4", "architectures": ["Gemma4ForConditionalGeneration"]}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return tiny.write(tmp_path / "model", "BF16")


def has(monkeypatch: pytest.MonkeyPatch, plugin: str | None, adapter: str | None) -> None:
    monkeypatch.setattr(install, "versions", lambda python: Versions(plugin, adapter))


@pytest.mark.parametrize(
    ("content", "tokenizer", "says"),
    [
        (None, "model", "cannot be read: No such file"),
        (b"\x80\x02 a pickle", "model", "is no GGUF file: it begins with b"),
        (b"", "model", "is no GGUF file"),
        (b"GGUF", "model", "ends before its header does"),
        (b"GGUF\1" + bytes(19), "model", "has version 1 of GGUF"),
        (EMPTY, None, "needs --tokenizer FOLDER"),
        (EMPTY, "empty", "has no readable config.json (No such file"),
        (EMPTY, "broken", "config.json is no JSON"),
        (EMPTY, "list", "it holds no object"),
        (EMPTY, "deep", "is nested too deeply"),
        (EMPTY, "pipe", "has no readable config.json (not a regular file)"),
        (b"GGUF\3" + bytes(3) + b"\xff" * 16, "model", "is damaged: it has a list of"),
        (CUT, "model", "ends before its tensors do: its download is not complete"),
    ],
)
def test_files_that_cannot_do_are_told_in_one_line(
    tmp_path: Path, content: bytes | None, tokenizer: str | None, says: str
) -> None:
    configs = {"model": "{}", "broken": "{", "list": "[]", "deep": "[" * 100_000}
    for name, config in configs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(config)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    arguments = ["--model", str(path), "--run-dir", str(tmp_path / "run")]
    if tokenizer:
        arguments += ["--tokenizer", str(tmp_path / tokenizer)]
    result = CliRunner().invoke(up.command, arguments)
    assert result.exit_code == 1
    assert says in result.output
    assert result.output.count("\n") == 1


def test_without_the_plugin_the_command_that_installs_it_is_told(made: Path) -> None:
    assert install.versions(PYTHON) == Versions(None, None)
    with pytest.raises(SetupError) as caught:
        file.check_environment(made, made.parent, PYTHON, gpu=True)
    assert f"`{PYTHON} -m pip install --no-deps vllm-gguf-plugin==0.0.5" in caught.value.message
    adapter = caught.value.message.removesuffix("`.").split()[-1]
    assert (Path(adapter) / "pyproject.toml").is_file()


def test_gemma_4_needs_the_adapter_until_the_plugin_knows_it(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, "0.0.5", None)
    with pytest.raises(SetupError, match=r"is a Gemma 4, whose tensors .* cannot name"):
        file.check_environment(made, made.parent, PYTHON, gpu=True)
    has(monkeypatch, "0.0.6", None)
    file.check_environment(made, made.parent, PYTHON, gpu=True)


@pytest.mark.parametrize(
    ("version", "knows"), [("0.0.3", False), ("0.0.5", False), ("0.0.10", True), ("0.1.0rc1", True)]
)
def test_versions_after_0_0_5_know_gemma_4(version: str, knows: bool) -> None:
    assert install.knows_gemma4(version) is knows


def test_a_configuration_with_images_is_refused_with_the_way_out(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, "0.0.5", "0.1.0")
    config = made.parent / "config.json"
    whole = WHOLE | {"text_config": json.loads(config.read_text()), "eos_token_id": [1, 106]}
    config.write_text(json.dumps(whole))
    with pytest.raises(SetupError, match=r"python -m monitoring\.gguf\.text .* FOLDER"):
        file.check_environment(made, made.parent, PYTHON, gpu=True)
    other = made.parent.parent / "text"
    result = CliRunner().invoke(text.command, [str(made.parent), str(other)])
    assert result.exit_code == 0, result.output
    file.check_environment(made, other, PYTHON, gpu=True)
    assert (other / "tokenizer.json").is_file()
    found = json.loads((other / "config.json").read_text())
    assert found["model_type"] == "gemma4_text"
    assert not list(other.glob("*.gguf"))


@pytest.mark.parametrize(("gpu", "refused"), [(False, True), (True, False)])
def test_quantized_matrices_need_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu: bool, refused: bool
) -> None:
    has(monkeypatch, "0.0.5", "0.1.0")
    path = tiny.write(tmp_path, "Q8_0")
    if refused:
        with pytest.raises(SetupError, match="matrices of Q8_0, whose kernels need a GPU"):
            file.check_environment(path, tmp_path, PYTHON, gpu=gpu)
    else:
        file.check_environment(path, tmp_path, PYTHON, gpu=gpu)


def test_the_text_model_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    result = CliRunner().invoke(text.command, [str(tmp_path), str(tmp_path / "new")])
    assert result.exit_code == 1
    assert "no configuration of a Gemma 4 (model_type 'llama')" in result.output
    same = CliRunner().invoke(text.command, [str(tmp_path), str(tmp_path)])
    assert "is the model's own folder" in same.output
    missing = CliRunner().invoke(text.command, [str(tmp_path / "none"), str(tmp_path / "new")])
    assert "No such file" in missing.output


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.gguf")
    with pytest.raises(SetupError, match="cannot be read: not a regular file"):
        file.read_header(tmp_path / "m.gguf")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "holds no object"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "is no JSON"),
        ('{"text_config": 1}', "is no configuration of a Gemma 4"),
    ],
)
def test_a_model_without_a_configuration_is_told_in_one_line(
    tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "config.json").write_text(content)
    result = CliRunner().invoke(text.command, [str(tmp_path), str(tmp_path / "new")])
    assert (result.exit_code, says in result.output) == (1, True)
    assert result.output.count("\n") == 1


def test_links_to_the_whole_model_s_files_are_not_written_through(tmp_path: Path) -> None:
    whole, new = tmp_path / "whole", tmp_path / "new"
    whole.mkdir()
    new.mkdir()
    config = json.dumps({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text"}})
    for name, content in (("config.json", config), ("tokenizer.json", "{}")):
        (whole / name).write_text(content)
        (new / name).symlink_to(whole / name)
    result = CliRunner().invoke(text.command, [str(whole), str(new)])
    assert (result.exit_code, result.output) == (0, f"{new}\n")
    assert (whole / "config.json").read_text() == config
    assert json.loads((new / "config.json").read_text())["architectures"] == [text.ARCHITECTURE]
    assert (new / "tokenizer.json").read_text() == "{}"


def test_a_name_on_the_hub_is_no_file(tmp_path: Path) -> None:
    assert not file.is_gguf("google/gemma-4-31B-it")
    assert not file.is_gguf(str(tmp_path))
    assert file.is_gguf("/models/gone.gguf")


def test_options_of_a_model_need_one() -> None:
    for option in ("--tokenizer", "--served-model-name", "--flag"):
        result = CliRunner().invoke(up.command, [option, "x"])
        assert result.exit_code == 2
        assert "are for the server of --model" in result.output


def test_any_other_model_needs_a_gpu_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "has_gpu", lambda: False)
    arguments = ["--model", "google/gemma-4-31B-it", "--run-dir", str(tmp_path)]
    result = CliRunner().invoke(up.command, arguments)
    assert "needs a GPU, and NVML finds none here" in result.output
