"""Stand-ins take the place of fetching and installing; what is tested is which are asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dashboards.preview import bundle
from monitoring import binaries, folders, system_programs
from monitoring.errors import SetupError
from monitoring.setup import setup
from monitoring.vllm import install, interpreter

PREVIEW = ("preview",)
SYSTEM = [("chromium",), ("systemd-analyze",)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    calls: list[tuple[str, ...]] = []

    def provide(names: Iterable[str], tools: Path, **tell: Any) -> dict[str, Path]:
        calls.append(tuple(names))
        tell["step"]("unpacking")
        return {name: tools / name for name in names}

    def install_vllm(tools: Path, version: str, **tell: Any) -> Path:
        calls.append(("install", version))
        return tools / "vllm" / "bin" / "python"

    def find(tools: Path) -> Path:
        raise SetupError("not there")

    def build(folder: Path, say: Callable[[str], None]) -> Path:
        calls.append(PREVIEW)
        say("building")
        return folder / "site"

    def provide_program(
        program: system_programs.SystemProgram, *, step: Callable[[str], None]
    ) -> Path:
        calls.append((program.name,))
        return Path("/usr/bin") / program.name

    monkeypatch.setattr(folders, "tools", lambda: tmp_path)
    monkeypatch.setattr(binaries, "provide", provide)
    monkeypatch.setattr(install, "install", install_vllm)
    monkeypatch.setattr(interpreter, "find", find)
    monkeypatch.setattr(binaries, "find", lambda name, tools: None)
    monkeypatch.setattr(bundle, "ensure", build)
    monkeypatch.setattr(system_programs, "provide", provide_program)
    return calls


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ([], [binaries.CHAIN, PREVIEW, ("install", "0.30.0")]),
        (["--dev"], [*SYSTEM, binaries.DEVELOPMENT, PREVIEW, ("install", "0.30.0")]),
        (["--binaries"], [binaries.CHAIN, PREVIEW]),
        (["--binaries", "--dev"], [*SYSTEM, binaries.DEVELOPMENT, PREVIEW]),
        (["--vllm"], [("install", "0.30.0")]),
    ],
)
def test_options_name_what_is_got(
    asked: list[tuple[str, ...]], arguments: list[str], calls: list[tuple[str, ...]]
) -> None:
    result = CliRunner().invoke(setup, arguments)
    assert (result.exit_code, asked) == (0, calls)


def test_the_third_party_build_is_named_where_it_is_installed(
    asked: list[tuple[str, ...]],
) -> None:
    assert "third-party build" in CliRunner().invoke(setup, ["--vllm"]).stderr
    assert "third-party" not in CliRunner().invoke(setup, ["--binaries"]).stderr


def test_a_vllm_that_is_there_is_taken(
    asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "find", lambda tools: Path("/gpu/bin/python"))
    result = CliRunner().invoke(setup, ["--vllm"])
    assert asked == []
    assert "vLLM 0.30.0: /gpu/bin/python" in result.stderr


def has_grafana(monkeypatch: pytest.MonkeyPatch) -> None:
    found = binaries.Binary("grafana", Path("/usr/sbin/grafana"), (13, 1))
    monkeypatch.setattr(binaries, "find", lambda name, tools: found)


def test_where_grafana_is_the_preview_is_built_for_the_tests_alone(
    asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    has_grafana(monkeypatch)
    result = CliRunner().invoke(setup, ["--binaries"])
    assert "grafana: /usr/sbin/grafana" in result.stderr
    assert PREVIEW not in asked
    CliRunner().invoke(setup, ["--binaries", "--dev"])
    assert PREVIEW in asked


@pytest.fixture
def no_node(asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Path:
        raise bundle.BundleError("the page is not built, and node is missing: install Node.js 20")

    monkeypatch.setattr(bundle, "ensure", fail)


@pytest.mark.usefixtures("no_node")
def test_without_node_one_line_says_so_and_the_rest_is_got(asked: list[tuple[str, ...]]) -> None:
    result = CliRunner().invoke(setup)
    assert result.exit_code == 0
    told = [line for line in result.stderr.splitlines() if "node is missing" in line]
    assert told == [
        "the page is not built, and node is missing: install Node.js 20. The chain runs without it."
    ]
    assert asked[-1] == ("install", "0.30.0")


@pytest.mark.usefixtures("no_node")
def test_for_the_tests_a_missing_node_is_an_error_that_names_the_packages() -> None:
    result = CliRunner().invoke(setup, ["--dev"])
    assert result.exit_code == 1
    told = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(told) == 1
    assert "packages nodejs and npm" in told[0]


def test_what_cannot_be_had_is_one_line_and_exit_code_1(
    asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def provide(*_: object, **__: object) -> dict[str, Path]:
        raise SetupError("prometheus >= 3.0: not found.")

    monkeypatch.setattr(binaries, "provide", provide)
    result = CliRunner().invoke(setup)
    assert result.exit_code == 1
    assert result.stderr == "Error: prometheus >= 3.0: not found.\n"


def test_an_unknown_option_is_usage() -> None:
    assert CliRunner().invoke(setup, ["--everything"]).exit_code == 2


def make(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--file", str(folders.root() / "Makefile"), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_alone_lists_its_targets(tmp_path: Path) -> None:
    result = make(folder=tmp_path)
    assert result.returncode == 0
    for target in ("demo", "test", "up", "lint", "build", "setup", "vllm", "secrets", "clean"):
        assert f"\n  {target} " in result.stdout


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("exit 1", "older than 3.11"),
        ("case $2 in *venv*) exit 1;; esac", "install its venv package"),
    ],
    ids=["old", "without-venv"],
)
def test_make_says_what_a_python_lacks(tmp_path: Path, script: str, line: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / "stand-in-python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    result = make("lint", f"PYTHON={python}", folder=tmp_path)
    assert result.returncode == 2
    said = [text for text in result.stderr.splitlines() if not text.startswith("make")]
    assert len(said) == 1
    assert line in said[0]
    assert not (tmp_path / ".venv").exists()


def test_narration_without_a_terminal_is_plain_lines(
    asked: list[tuple[str, ...]],
) -> None:
    result = CliRunner().invoke(setup, ["--binaries"])
    assert "… unpacking\n" in result.stderr
    assert "\x1b" not in result.stderr
