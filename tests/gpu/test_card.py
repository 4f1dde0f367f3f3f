"""How nvidia-smi is read, with a script in its place, and the card that is made up."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.gpu.card import MIB, SECOND_PROCESS_BYTES, TAKER, NvidiaCard, SimulatedCard


def nvidia_smi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_figures_and_processes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """case $1 in
--query-gpu=*) echo '131093, 143771, 615, 97, 412.35, [N/A]'; echo '1, 143771, 615, 0, 70, 30' ;;
--query-compute-apps=*) [ "$2" = --id=0 ] && echo '4242, 122364' && echo '4343, [N/A]' ;;
esac"""
    nvidia_smi(tmp_path, script, monkeypatch)
    card = NvidiaCard(Path("python"))

    assert card.rows() == [[131093, 143771, 615, 97, 412.35, None], [1, 143771, 615, 0, 70, 30]]
    assert card.processes() == [(4242, 122364)]


def test_failing_program_gives_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvidia_smi(tmp_path, "echo 'NVIDIA-SMI has failed'; exit 9", monkeypatch)

    assert NvidiaCard(Path("python")).rows() == []
    assert NvidiaCard(Path("python")).processes() == []


def test_second_process_is_a_program() -> None:
    compile(TAKER, "taker", "exec")


def test_made_up_card_shows_in_the_file_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    card = SimulatedCard(path)

    def used() -> int:
        gpu = json.loads(path.read_text(encoding="utf-8"))["gpus"][0]
        (row,) = card.rows()
        assert row[0] == math.ceil(gpu["used_bytes"] / MIB)
        return int(gpu["used_bytes"])

    assert used() == 0
    card.server_runs(True)
    server = used()
    card.take()
    assert used() == server + SECOND_PROCESS_BYTES
    assert 0.9 < used() / (card.total - card.reserved) < 1
    card.give_back()
    card.server_runs(False)
    assert used() == 0
