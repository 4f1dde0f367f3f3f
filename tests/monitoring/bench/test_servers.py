"""What becomes of the servers if the command is killed, with a stand-in for vLLM."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil


def test_the_servers_end_with_a_command_that_was_killed(
    python: Path,
    asked: Path,
    tmp_path: Path,
    free_port: Callable[[], int],
    alive: Callable[[int], bool],
    until: Callable[..., None],
) -> None:
    command = [
        *(sys.executable, "-m", "monitoring", "bench", "on-off", "--python", str(python)),
        *("--port", str(free_port()), "--exporter-port", str(free_port())),
        *("--output", str(tmp_path / "out")),
    ]
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[3]
    ) as bench:
        until(lambda: asked.exists() or bench.poll() is not None, seconds=60)
        children = psutil.Process(bench.pid).children(recursive=True)
        lines = [" ".join(child.cmdline()) for child in children]
        bench.kill()
    assert any("api_server" in line for line in lines)
    assert any("-m exporter" in line for line in lines)
    until(lambda: not any(alive(child.pid) for child in children), seconds=60)
    assert (tmp_path / "out/logs/guardian.log").read_text() == ""
