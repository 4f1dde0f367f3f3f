"""A measured process: its start, its scrapes, its CPU time and memory."""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

PROMETHEUS_HEADERS = {
    # As Prometheus 3 asks.
    "Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2",
    "Accept-Encoding": "gzip",
    "User-Agent": "Prometheus/3.0",
    "X-Prometheus-Scrape-Timeout-Seconds": "10",
}
START_SECONDS = 60.0
_ROOT = Path(__file__).resolve().parents[3]
_PATHS = (str(_ROOT), os.environ.get("PYTHONPATH"))


class StartError(Exception):
    """A process did not come up; the message is one line."""


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def import_seconds(module: str, repetitions: int = 5) -> float:
    """Return what importing a module adds to a bare interpreter; the median of repetitions."""
    times: dict[str, list[float]] = {f"import {module}": [], "pass": []}
    for _ in range(repetitions):
        for code, seconds in times.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, cwd=_ROOT)
            seconds.append(time.perf_counter() - began)
    imported, bare = (statistics.median(seconds) for seconds in times.values())
    return max(0.0, imported - bare)


class Process:
    """A server on loopback, started here; a kept connection scrapes it."""

    def __init__(self, command: Sequence[str], ready_path: str) -> None:
        """Start it and wait until it answers.

        Args:
            command: Program and arguments; ``{port}`` stands for the port.
            ready_path: Answers 200 once it serves.

        Raises:
            StartError: It does not answer.
        """
        self.port = free_port()
        began = time.perf_counter()
        self._popen = subprocess.Popen(
            [part.replace("{port}", str(self.port)) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, _PATHS))},
        )
        self._process = psutil.Process(self._popen.pid)
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            self._wait(command, ready_path, began)
        except BaseException:
            self.stop()
            raise
        self.start_seconds: float = time.perf_counter() - began
        self.rss_at_start: int = self.rss()

    def get(self, path: str = "/metrics") -> float:
        """Fetch a page; return the seconds that it took.

        Raises:
            OSError, http.client.HTTPException: It is not answered with 200.
        """
        began = time.perf_counter()
        self._connection.request("GET", path, headers=PROMETHEUS_HEADERS)
        response = self._connection.getresponse()
        response.read()
        if response.status != http.client.OK:
            raise http.client.HTTPException(f"HTTP {response.status}")
        return time.perf_counter() - began

    def cpu_seconds(self) -> float:
        """Return the CPU time of all its threads since its start."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def rss(self) -> int:
        """Return its resident memory in bytes."""
        return int(self._process.memory_info().rss)

    def stop(self) -> None:
        """End it."""
        self._connection.close()
        self._popen.terminate()
        try:
            self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _wait(self, command: Sequence[str], ready_path: str, began: float) -> None:
        while True:
            try:
                self.get(ready_path)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if self._popen.poll() is not None:
                    raise StartError(f"`{' '.join(command[:3])}` ended at its start") from error
                if time.perf_counter() - began > START_SECONDS:
                    raise StartError(f"`{' '.join(command[:3])}` does not answer") from error
                time.sleep(0.005)
            else:
                return
