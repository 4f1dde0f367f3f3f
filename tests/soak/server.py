"""A real vLLM with the tiny model, and the faults it goes through."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from monitoring.supervision.guardian import Guardian
from monitoring.vllm import model
from monitoring.vllm.server import cpu_server

HANG_SECONDS = 25.0
SHORT_OUTAGE_SECONDS = 5.0
STOP_SECONDS = 5.0
"""What it gets to end by itself where the soak was killed."""

Fault = str
FAULTS: tuple[Fault, ...] = ("killed", "hung", "killed for longer", "stopped")


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int, path: str) -> bool:
    """Tell whether a path of 127.0.0.1 is answered with 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class Server:
    """vLLM's process; its children end with it."""

    def __init__(self, python: Path, folder: Path, guardian: Guardian) -> None:
        """Take the interpreter that has vLLM and a folder for the model and the log.

        The guardian ends the process where the soak is killed before it can.
        """
        self.port = free_port()
        self.starts = 0
        self._command = cpu_server(python, model.write(folder / "model"), port=self.port)
        self._log = folder / "vllm.log"
        self._guardian = guardian
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Root of the server."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the process; it is ready later."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command.arguments,
                env={**os.environ, **self._command.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._guardian.watch(self._process.pid, STOP_SECONDS)
        self.starts += 1

    def is_ready(self) -> bool:
        """Tell whether requests are answered."""
        return answers(self.port, "/health")

    def wait_until_ready(self, stop: threading.Event, seconds: float = 420.0) -> None:
        """Wait; return early once ``stop`` is set.

        Raises:
            RuntimeError: It ended, or took longer than ``seconds``.
        """
        until = time.monotonic() + seconds
        while not stop.is_set() and not self.is_ready():
            if self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"vLLM ended at its start: see {self._log}")
            if time.monotonic() > until:
                raise RuntimeError(f"vLLM is not ready after {seconds:.0f} s: see {self._log}")
            stop.wait(1.0)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End the process at once and wait for that."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._guardian.forget(self._process.pid)


class Faults:
    """Lets a server fail every few minutes, each time in another way, and start again."""

    def __init__(self, server: Server, every_seconds: float, window_seconds: float) -> None:
        """Take the server, the time between faults, and the exporter's window."""
        self.done: dict[Fault, int] = dict.fromkeys(FAULTS, 0)
        self.failure: str = ""
        self._server = server
        self._every = every_seconds
        self._long_outage = window_seconds * 1.5
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)

    def start(self) -> None:
        """Begin; the first fault comes after the time between two."""
        self._thread.start()

    def stop(self) -> None:
        """Let no more faults happen and wait for the one that does."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        kinds: Iterator[Fault] = cycle(FAULTS)
        while not self._stop.wait(self._every):
            kind = next(kinds)
            try:
                self._inflict(kind)
            except RuntimeError as error:
                self.failure = str(error)
                return
            self.done[kind] += 1

    def _inflict(self, kind: Fault) -> None:
        server = self._server
        if kind == "hung":
            server.signal(signal.SIGSTOP)
            self._stop.wait(HANG_SECONDS)
            server.signal(signal.SIGCONT)
            return
        if kind == "stopped":
            server.signal(signal.SIGTERM)
            self._stop.wait(SHORT_OUTAGE_SECONDS)
        server.kill()
        self._stop.wait(self._long_outage if "longer" in kind else SHORT_OUTAGE_SECONDS)
        server.start()
        server.wait_until_ready(self._stop)
