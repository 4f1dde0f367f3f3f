"""Stand-ins: a table of versions, and shell scripts in the place of Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitoring.errors import SetupError
from monitoring.vllm import interpreter

CURRENT = Path("/kit/bin/python")


def table(versions: dict[Path, str]) -> dict[str, object]:
    return {"current": CURRENT, "version": versions.get}


def test_the_version_is_the_one_that_the_packaging_pins() -> None:
    assert interpreter.wanted_version() == "0.30.0"


def test_without_packaging_the_error_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "DISTRIBUTION", "a-name-that-nothing-has")
    with pytest.raises(SetupError, match="make setup"):
        interpreter.wanted_version()


def test_the_option_comes_first_and_takes_any_version(tmp_path: Path) -> None:
    mine = Path("/mine/bin/python")
    versions = table({mine: "0.99.0", CURRENT: "0.30.0"})
    assert interpreter.find(tmp_path, mine, **versions) == mine  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="/else/python is no Python that has vLLM"):
        interpreter.find(tmp_path, Path("/else/python"), **versions)  # type: ignore[arg-type]


def test_then_the_running_interpreter_then_the_own_environment(tmp_path: Path) -> None:
    own = tmp_path / "vllm" / "bin" / "python"
    both = table({CURRENT: "0.30.1", own: "0.30.0"})
    assert interpreter.find(tmp_path, **both) == CURRENT  # type: ignore[arg-type]
    old = table({CURRENT: "0.9.0", own: "0.30.0"})
    assert interpreter.find(tmp_path, **old) == own  # type: ignore[arg-type]
    with pytest.raises(SetupError, match=r"vLLM 0\.30\.0 is not installed: run `make vllm`"):
        interpreter.find(tmp_path, **table({}))  # type: ignore[arg-type]


def test_the_own_environment_is_not_for_gpus(tmp_path: Path) -> None:
    own = table({tmp_path / "vllm" / "bin" / "python": "0.30.0"})
    with pytest.raises(SetupError, match=r"/kit/bin/python -m pip install vllm==0\.30\.0"):
        interpreter.find(tmp_path, gpu=True, **own)  # type: ignore[arg-type]
    both = table({CURRENT: "0.30.0"})
    assert interpreter.find(tmp_path, gpu=True, **both) == CURRENT  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("version", "same"),
    [("0.30.0", True), ("0.30.2", True), ("0.30.0+cpu", True), ("0.3.0", False), (None, False)],
)
def test_the_last_number_may_differ(version: str | None, same: bool) -> None:
    assert interpreter.is_same_series(version, "0.30.0") is same


def test_an_interpreter_is_asked_for_its_version(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 0.30.0\n", encoding="utf-8")
    python.chmod(0o755)
    assert interpreter.vllm_version(python) == "0.30.0"
    python.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    assert interpreter.vllm_version(python) is None
    assert interpreter.vllm_version(tmp_path / "absent") is None
