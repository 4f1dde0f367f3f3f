"""Stand-ins: shell scripts that only say a version, and an `unpack` that writes such scripts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from monitoring import binaries, debian
from monitoring.errors import SetupError

DEBIAN_FILES = {
    "prometheus": {"prometheus": "prometheus, version 3.5.3+ds1 (branch: debian/sid)"},
    "promtool": {"promtool": "promtool, version 3.5.3+ds1 (branch: debian/sid)"},
    "prometheus-alertmanager": {
        "prometheus-alertmanager": "alertmanager, version 0.33.1 (branch: debian/sid)",
        "amtool": "amtool, version 0.33.1 (branch: debian/sid)",
    },
    "docker-compose": {"docker-compose": "Docker Compose version 2.40.3-3"},
}


def program(path: Path, says: str, *, code: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class StandInArchive:
    """Unpacks what Debian has, or fails as told."""

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason
        self.asked: list[list[str]] = []

    def __call__(
        self, packages: Sequence[str], destination: Path, *, step: Callable[[str], None]
    ) -> None:
        self.asked.append(list(packages))
        if self.reason:
            raise debian.ArchiveError(self.reason)
        for package in packages:
            step(f"unpacking {package}")
            for name, says in DEBIAN_FILES[package].items():
                program(destination / package / "usr" / "bin" / name, says)


@pytest.fixture(autouse=True)
def _only_stand_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(binaries, "FURTHER_FOLDERS", ())


def test_path_comes_before_what_was_fetched(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    program(tools / "bin" / "prometheus", "prometheus, version 3.9.0")
    assert binaries.find("prometheus", tools) == binaries.Binary(
        "prometheus", tools / "bin" / "prometheus", (3, 9, 0)
    )
    mine = program(tmp_path / "path" / "prometheus", "prometheus, version 3.0.0 (branch: HEAD)")
    found = binaries.find("prometheus", tools)
    assert found == binaries.Binary("prometheus", mine, (3, 0, 0))


@pytest.mark.parametrize(
    ("name", "file", "says", "remark"),
    [
        ("prometheus", "prometheus", "prometheus, version 2.55.1", "2.55.1 is older than 3.0"),
        ("promtool", "promtool", "promtool, version 2.42.0+ds", "2.42.0 is older than 3.0"),
        (
            "alertmanager",
            "alertmanager",
            "alertmanager, version 0.31.9",
            "0.31.9 is older than 0.32",
        ),
        ("amtool", "amtool", "amtool, version 0.25.0", "0.25.0 is older than 0.32"),
        ("docker-compose", "docker-compose", "docker-compose version 1.29.2", "older than 2.20"),
        ("prometheus", "prometheus", "usage: something else", "does not say its version"),
    ],
)
def test_too_old_counts_as_missing_and_is_told(
    tmp_path: Path, name: str, file: str, says: str, remark: str
) -> None:
    path = program(tmp_path / "path" / file, says)
    remarks: list[str] = []
    assert binaries.find(name, tmp_path / "tools", remark=remarks.append) is None
    assert len(remarks) == 1
    assert remark in remarks[0]
    assert str(path) in remarks[0]


def test_an_old_one_does_not_hide_a_newer_one_behind_it(tmp_path: Path) -> None:
    program(tmp_path / "path" / "alertmanager", "alertmanager, version 0.25.0")
    newer = program(tmp_path / "path" / "prometheus-alertmanager", "alertmanager, version 0.33.1")
    found = binaries.find("alertmanager", tmp_path / "tools")
    assert found is not None
    assert found.path == newer


def test_a_program_that_fails_has_no_version(tmp_path: Path) -> None:
    assert binaries.version_of(program(tmp_path / "x", "prometheus, version 3.5.0", code=1)) is None
    assert binaries.version_of(tmp_path / "absent") is None


def test_the_missing_ones_are_fetched_once(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    mine = program(tmp_path / "path" / "prometheus", "prometheus, version 3.13.2")
    archive = StandInArchive()
    first = binaries.provide(binaries.DEVELOPMENT, tools, unpack=archive)
    assert archive.asked == [["promtool", "prometheus-alertmanager", "docker-compose"]]
    assert first["prometheus"] == mine
    assert first["alertmanager"].name == "prometheus-alertmanager"
    assert set(first) == set(binaries.DEVELOPMENT)
    assert binaries.provide(binaries.DEVELOPMENT, tools, unpack=archive) == first
    assert len(archive.asked) == 1


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    archive = StandInArchive()
    results: list[dict[str, Path]] = []

    def provide() -> None:
        results.append(binaries.provide(binaries.CHAIN, tmp_path / "tools", unpack=archive))

    threads = [threading.Thread(target=provide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(archive.asked) == 1
    assert results == [results[0]] * 4


def test_without_a_mirror_the_error_names_what_to_install_and_where(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        binaries.provide(
            binaries.CHAIN, tmp_path / "tools", unpack=StandInArchive("there is no apt here")
        )
    message = caught.value.message
    assert "prometheus >= 3.0, alertmanager >= 0.32" in message
    assert "there is no apt here" in message
    assert "official alertmanager (prometheus.io/download) and prometheus (" in message
    assert str(tmp_path / "tools" / "bin") in message
    assert "\n" not in message
    assert caught.value.exit_code == 1


def test_fetched_programs_that_do_not_run_are_an_error(tmp_path: Path) -> None:
    def unpack(packages: Sequence[str], destination: Path, *, step: Callable[[str], None]) -> None:
        program(destination / "prometheus" / "usr" / "bin" / "prometheus", "", code=127)

    with pytest.raises(SetupError, match=r"prometheus >= 3\.0.*do not run here"):
        binaries.provide(["prometheus"], tmp_path / "tools", unpack=unpack)


def test_grafana_is_found_but_never_fetched(tmp_path: Path) -> None:
    assert binaries.find("grafana", tmp_path / "tools") is None
    archive = StandInArchive()
    with pytest.raises(SetupError, match="Debian has no package of it"):
        binaries.provide(["grafana"], tmp_path / "tools", unpack=archive)
    assert archive.asked == []
    program(tmp_path / "path" / "grafana", "grafana version 13.1.3")
    found = binaries.find("grafana", tmp_path / "tools")
    assert found is not None
    assert found.version == (13, 1, 3)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tools").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(SetupError, match="cannot be written"):
        binaries.provide(binaries.CHAIN, tmp_path / "tools", unpack=StandInArchive())
