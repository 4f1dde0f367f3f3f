"""Stand-ins take the place of apt-get and of the user; the programs are empty."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from monitoring import system_programs
from monitoring.errors import SetupError
from monitoring.system_programs import CHROMIUM, SYSTEMD_ANALYZE

INSTALL = "apt-get install -y --no-install-recommends chromium"
UPDATE = "apt-get update"


class AptStandin:
    """Notes what it is asked for, fails as often as told, then has installed Chromium."""

    def __init__(self, folder: Path, failures: int = 0) -> None:
        self.folder = folder
        self.failures = failures
        self.calls: list[str] = []

    def __call__(
        self, command: Sequence[str], **options: object
    ) -> subprocess.CompletedProcess[str]:
        assert options["stdin"] == subprocess.DEVNULL
        self.calls.append(" ".join(command))
        if self.calls[-1] == INSTALL:
            if self.failures:
                self.failures -= 1
                complaint = "W: something\nE: Unable to locate package chromium\nE: more\n"
                return subprocess.CompletedProcess(command, 100, "", complaint)
            program(self.folder, "chromium")
        return subprocess.CompletedProcess(command, 0, "", "")


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.touch(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; root is who asks."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    program(tmp_path, "apt-get")
    return tmp_path


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_one_that_is_there_is_taken(path: Path, name: str) -> None:
    there = program(path, name)
    apt = AptStandin(path)
    assert system_programs.provide(CHROMIUM, step=print, run=apt) == there
    assert apt.calls == []


@pytest.mark.parametrize(("failures", "calls"), [(0, [INSTALL]), (1, [INSTALL, UPDATE, INSTALL])])
def test_root_has_apt_install_it(path: Path, failures: int, calls: list[str]) -> None:
    apt = AptStandin(path, failures)
    said: list[str] = []
    assert system_programs.provide(CHROMIUM, step=said.append, run=apt) == path / "chromium"
    assert apt.calls == calls
    assert len(said) == len(calls)


def missing(apt: AptStandin) -> str:
    with pytest.raises(SetupError) as caught:
        system_programs.provide(CHROMIUM, step=print, run=apt)
    line = caught.value.format_message()
    assert "\n" not in line
    assert "Debian: apt-get install chromium" in line
    return line


def test_an_apt_that_fails_is_one_line_with_its_reason(path: Path) -> None:
    line = missing(AptStandin(path, failures=2))
    assert "apt-get install says: Unable to locate package chromium)" in line


def test_the_package_may_have_another_name(path: Path) -> None:
    (path / "apt-get").unlink()
    with pytest.raises(SetupError, match="apt-get install systemd") as caught:
        system_programs.provide(SYSTEMD_ANALYZE, step=print)
    assert caught.value.format_message().startswith("systemd-analyze, which the tests need")


def test_others_than_root_are_told_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    apt = AptStandin(path)
    assert "only root may" in missing(apt)
    assert apt.calls == []


def test_without_apt_the_package_is_named(path: Path) -> None:
    (path / "apt-get").unlink()
    assert "there is no apt here" in missing(AptStandin(path))


def test_a_package_without_the_program_is_told(path: Path) -> None:
    def nothing(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, "", "")

    with pytest.raises(SetupError, match="no such program on PATH"):
        system_programs.provide(CHROMIUM, step=print, run=nothing)


def test_a_mirror_that_does_not_answer_is_told(path: Path) -> None:
    def slow(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, 900)

    with pytest.raises(SetupError, match="apt-get took longer than 900 s"):
        system_programs.provide(CHROMIUM, step=print, run=slow)
