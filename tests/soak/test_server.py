"""What becomes of vLLM if the soak is killed, with a stand-in for vLLM's Python."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

SOAK = """
import sys, time
from pathlib import Path
from monitoring.supervision.guardian import Guardian
from tests.soak.server import Server
folder = Path(sys.argv[1])
server = Server(folder / "python", folder, Guardian(folder / "guardian.log"))
server.start()
server.kill()
server.start()
print(server._process.pid, flush=True)
time.sleep(300)
"""


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_server_ends_with_a_soak_that_was_killed(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 300\n")
    python.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", SOAK, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as soak:
        assert soak.stdout is not None
        server = psutil.Process(int(soak.stdout.readline()))
        assert lives(server)
        soak.kill()
    until = time.monotonic() + 60
    while lives(server):
        assert time.monotonic() < until, "the server outlived the soak"
        time.sleep(0.05)
    assert (tmp_path / "guardian.log").read_text() == ""
