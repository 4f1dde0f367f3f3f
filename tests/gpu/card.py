"""The card beside the exporter's view of it: by nvidia-smi, or made up where there is none."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MIB = 1024**2
GIB = 1024**3

QUERY = "memory.used,memory.total,memory.reserved,utilization.gpu,power.draw,temperature.gpu"
SECOND_PROCESS_BYTES = 8 * GIB

# Imports first, which takes seconds; touches the card only when told, and lives until told to end.
TAKER = (
    "import sys, torch\n"
    "sys.stdin.readline()\n"
    f"held = torch.empty({SECOND_PROCESS_BYTES}, dtype=torch.uint8, device='cuda').fill_(1)\n"
    "torch.cuda.synchronize()\n"
    "print('taken', flush=True)\n"
    "sys.stdin.readline()\n"
)

Row = list[float | None]


class Card(Protocol):
    """What is asked of the card, real or made up."""

    def rows(self) -> list[Row]:
        """Return the figures of `QUERY` of each GPU, MiB and so on; none without an answer.

        The first is the one that is loaded.
        """

    def processes(self) -> list[tuple[int, float]]:
        """Return process IDs with the MiB that each holds on the first GPU."""

    def server_runs(self, runs: bool) -> None:
        """Hear that the server now holds its share, or no longer does."""

    def prepare_second(self) -> None:
        """Start the second process, which takes nothing yet."""

    def take(self) -> int | None:
        """Let the second process take its memory; returns its process ID."""

    def give_back(self) -> None:
        """Let it end."""


class NvidiaCard:
    """The first GPU of this machine; of the others only the figures."""

    def __init__(self, python: Path) -> None:
        """Take a Python that has torch, for the second process."""
        self._python = python
        self._second: subprocess.Popen[str] | None = None

    def rows(self) -> list[Row]:
        lines = _smi(f"--query-gpu={QUERY}")
        return [[_number(text) for text in line.split(",")] for line in lines]

    def processes(self) -> list[tuple[int, float]]:
        found = []
        for line in _smi("--query-compute-apps=pid,used_memory", "--id=0"):
            pid, _, used = line.partition(",")
            amount = _number(used)
            if pid.strip().isdigit() and amount is not None:
                found.append((int(pid), amount))
        return found

    def server_runs(self, runs: bool) -> None:
        """Nothing to do: the card knows."""

    def prepare_second(self) -> None:
        self._second = subprocess.Popen(
            [str(self._python), "-c", TAKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def take(self) -> int | None:
        second = self._second
        if second is None or second.stdin is None or second.stdout is None:
            return None
        second.stdin.write("take\n")
        second.stdin.flush()
        if second.stdout.readline().strip() != "taken":
            print("the second process could not take its memory", file=sys.stderr)
        return second.pid

    def give_back(self) -> None:
        if self._second is not None:
            self._second.kill()
            self._second.communicate()
            self._second = None


@dataclass
class SimulatedCard:
    """An H200 made up in the file that the exporter's simulated backend reads."""

    path: Path
    total: int = 150_754_820_096
    reserved: int = 644_939_776
    share: float = 0.857
    _runs: bool = False
    _taken: bool = field(default=False)

    def __post_init__(self) -> None:
        self._write()

    @property
    def used(self) -> int:
        """Bytes in use."""
        server = self.share * (self.total - self.reserved) if self._runs else 0
        return round(server) + (SECOND_PROCESS_BYTES if self._taken else 0)

    def rows(self) -> list[Row]:
        sizes = (self.used, self.total, self.reserved)
        return [[*(float(math.ceil(size / MIB)) for size in sizes), None, None, None]]

    def processes(self) -> list[tuple[int, float]]:
        return []

    def server_runs(self, runs: bool) -> None:
        self._runs = runs
        self._write()

    def prepare_second(self) -> None:
        """Nothing to do: nothing is there."""

    def take(self) -> int | None:
        self._taken = True
        self._write()
        return None

    def give_back(self) -> None:
        self._taken = False
        self._write()

    def _write(self) -> None:
        gpu = {
            "name": "Simulated H200",
            "total_bytes": self.total,
            "reserved_bytes": self.reserved,
            "used_bytes": self.used,
        }
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(json.dumps({"gpus": [gpu]}), encoding="utf-8")
        unfinished.replace(self.path)


def _smi(*query: str) -> list[str]:
    try:
        done = subprocess.run(
            ["nvidia-smi", *query, "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
