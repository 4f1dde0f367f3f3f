"""Records the exporter beside nvidia-smi and vLLM's counters while load and memory come and go.

    python3 -m tests.gpu.truth --out DIR [--python PYTHON] [--minutes 9]

Needs an NVIDIA GPU, a Python with vLLM and torch, and nothing from a network. With ``--simulated``
it runs vLLM on the CPU and the exporter's simulated card, to try the script itself.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import click
import psutil
import requests

from monitoring.vllm import model as tiny
from monitoring.vllm.interpreter import vllm_version
from monitoring.vllm.server import (
    TINY_MODEL_NAME,
    Command,
    GPUOptions,
    cpu_server,
    gpu_server,
)
from tests.gpu import compare, llama, load, recording
from tests.gpu.card import Card, NvidiaCard, SimulatedCard
from tests.gpu.recorder import Recorder

HOST = "127.0.0.1"
MODEL = "llama-6b"
CLIENTS = 8
END_SECONDS = 12.0
"""Left at the end for stopping and packing."""

RESTART_SHARE = 1.1
"""The second start is given this much of what the first took."""

ORPHAN_SECONDS = 8.0
"""The engine notices that its server is gone, and ends by itself within 6 s as a rule."""

EMPTY, IDLE, SHARED, UNIQUE, PRESSED = 6.0, 15.0, 60.0, 30.0, 95.0
RECOVERED, KILLED, OFF = 45.0, 10.0, 25.0
"""Seconds of the phases; `UNIQUE` is the least, whatever is left comes on top. `PRESSED` lasts
longer than the alert's ``for`` of 1m with an evaluation every 15 s."""


@dataclass(frozen=True)
class Setup:
    """What is run and where its files lie."""

    out: Path
    model_folder: Path
    python: Path
    port: int
    exporter_port: int
    window: str
    scale: float
    simulated: bool
    flags: tuple[str, ...]

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def exporter_url(self) -> str:
        return f"http://{HOST}:{self.exporter_port}"

    @property
    def model(self) -> str:
        return TINY_MODEL_NAME if self.simulated else MODEL

    def prompts(self, *, shared: bool) -> load.Prompts:
        """Return the prompts; the CPU gets shorter ones."""
        length = 512 if self.simulated else 3000
        new = 32 if self.simulated else 64
        return load.Prompts(length, new) if shared else load.Prompts(0, length)

    def server(self, *, caching: bool) -> Command:
        """Return how to start vLLM."""
        folder = self.model_folder
        if self.simulated:
            extra = self.flags if caching else (*self.flags, "--no-enable-prefix-caching")
            return cpu_server(self.python, tiny.write(folder), port=self.port, extra=extra)
        options = GPUOptions(
            str(llama.write(folder)),
            served_name=MODEL,
            prefix_caching=caching,
            max_model_length=llama.MAX_MODEL_LENGTH_TOKENS,
            extra=("--load-format=dummy", *self.flags),
        )
        return gpu_server(self.python, options, port=self.port)

    def exporter(self, simulated_file: Path) -> list[str]:
        """Return how to start the exporter."""
        backend = ["nvml"]
        if self.simulated:
            backend = ["simulated", "--gpu.simulated-file", str(simulated_file)]
        return [
            *(sys.executable, "-m", "exporter", "--vllm.url", self.url),
            *("--web.listen-address", f"{HOST}:{self.exporter_port}"),
            *("--cache.window", self.window, "--gpu.backend", *backend),
        ]


class Run:
    """One run from the empty card to the empty card."""

    def __init__(self, setup: Setup, card: Card, recorder: Recorder, deadline: float) -> None:
        self.setup, self.card, self.recorder, self.deadline = setup, card, recorder, deadline
        self.server: subprocess.Popen[bytes] | None = None
        self.seed = int(time.time())

    def left(self) -> float:
        return self.deadline - END_SECONDS - time.monotonic()

    def phase(self, name: str, seconds: float, *, shared: bool | None = None) -> None:
        """Let some time go by, with a load or without one."""
        seconds = min(seconds, self.left())
        if seconds <= 0:
            return
        self._say(f"{name}, {seconds:.0f} s")
        self.recorder.phase(name)
        with self._load(shared):
            time.sleep(seconds)

    def start(self, name: str, *, caching: bool) -> float:
        """Start vLLM and wait until it is ready; returns the seconds that it took."""
        began = time.monotonic()
        command = self.setup.server(caching=caching)
        self._say(f"{name}: {' '.join(command.arguments)}")
        self.recorder.phase(name)
        log = (self.setup.out / "vllm.log").open("ab")
        self.server = _popen(command.arguments, log, command.environment)
        while not _answers(f"{self.setup.url}/health"):
            if self.server.poll() is not None or self.left() <= 0:
                raise click.ClickException("vLLM did not become ready in time: see vllm.log")
            time.sleep(0.25)
        self.card.server_runs(True)
        pids = [self.server.pid]
        with contextlib.suppress(psutil.Error):
            pids += [p.pid for p in psutil.Process(self.server.pid).children(recursive=True)]
        took = time.monotonic() - began
        self.recorder.mark(server=pids, caching=caching, start_seconds=round(took, 1))
        self._say(f"ready after {took:.0f} s")
        return took

    def kill(self) -> None:
        """Kill the server by SIGKILL, and what outlives it after a while."""
        if self.server is None:
            return
        self.server.kill()
        self.server.wait()
        self.card.server_runs(False)
        time.sleep(ORPHAN_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGKILL)
            self.recorder.mark(leftover_killed=True)
        self.server = None

    def all(self) -> None:
        """Go through all phases."""
        scale = self.setup.scale
        self.phase("empty", EMPTY * scale)
        took = self.start("start", caching=True)
        self.phase("idle", IDLE * scale)
        self.phase("shared", SHARED * scale, shared=True)
        self.card.prepare_second()
        after = (RECOVERED + KILLED + OFF + 15) * scale + ORPHAN_SECONDS + RESTART_SHARE * took
        spare = max(0.0, self.left() - after - (UNIQUE + PRESSED) * scale)
        self.phase("unique", UNIQUE * scale + spare / 2, shared=False)
        self._press(PRESSED * scale)
        self.phase("unique again", spare / 2, shared=False)
        self.phase("recovered", RECOVERED * scale, shared=True)
        self.phase("idle again", 5 * scale)
        self._say("killed")
        self.recorder.phase("killed")
        self.kill()
        self.phase("gone", KILLED * scale)
        try:
            self.start("start, caching off", caching=False)
        except click.ClickException as error:  # what was recorded until now is worth its packing
            self.recorder.mark(skipped=error.format_message())
            self._say(error.format_message())
            return
        self.phase("caching off", OFF * scale, shared=True)
        self.phase("caching off, idle", min(5.0, self.left()))

    def _press(self, seconds: float) -> None:
        self.recorder.phase("second process")
        with self._load(False):
            pid = self.card.take()
            self.recorder.mark(second=pid)
            self._say(f"second process, {seconds:.0f} s")
            time.sleep(max(0.0, min(seconds, self.left())))
            self.card.give_back()
            self.recorder.phase("given back")
            time.sleep(3)

    @contextmanager
    def _load(self, shared: bool | None) -> Iterator[None]:
        if shared is None:
            yield
            return
        prompts = self.setup.prompts(shared=shared)
        self.seed += 1
        with load.running(self.setup.url, self.setup.model, prompts, CLIENTS, self.seed) as tally:
            yield
        self.recorder.mark(answered=tally.answered, failed=tally.failed)

    def _say(self, text: str) -> None:
        print(f"[{self.left():5.0f} s left] {text}", flush=True)


def _popen(
    arguments: Sequence[str], log: IO[bytes], environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return subprocess.Popen(
        list(arguments),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, **offline, **(environment or {})},
    )


def _answers(url: str) -> bool:
    try:
        with requests.Session() as session:
            session.trust_env = False
            return session.get(url, timeout=2).ok
    except requests.RequestException:
        return False


def _identity() -> dict[str, str]:
    done = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.partition(", ") for line in done.stdout.splitlines()]
    name, _, driver = found[0] if found else ("", "", "")
    return {"gpu": f"{len(found)} x {name}" if len(found) > 1 else name, "driver": driver}


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--python", type=click.Path(path_type=Path), default=sys.executable)
@click.option("--minutes", type=click.FloatRange(min=1), default=9.0, show_default=True)
@click.option("--scale", type=float, default=1.0, show_default=True, help="Of phases but starts.")
@click.option("--window", default="30s", show_default=True, help="The exporter's.")
@click.option("--port", default=8020, show_default=True)
@click.option("--exporter-port", default=18020, show_default=True)
@click.option("--flag", "flags", multiple=True, help="Further argument of vLLM.")
@click.option("--simulated", is_flag=True, help="vLLM on the CPU, a card made up.")
def main(
    out: Path,
    python: Path,
    minutes: float,
    scale: float,
    window: str,
    port: int,
    exporter_port: int,
    flags: tuple[str, ...],
    simulated: bool,
) -> None:
    """Record into OUT/truth.jsonl (and .gz), and compare at the end."""
    deadline = time.monotonic() + 60 * minutes
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="gpu-truth-"))
    setup = Setup(out, folder, python, port, exporter_port, window, scale, simulated, flags)
    simulated_file = out / "card.json"
    card: Card = SimulatedCard(simulated_file) if simulated else NvidiaCard(python)
    path = out / "truth.jsonl"
    path.unlink(missing_ok=True)
    recorder = Recorder(path, card, setup.url, setup.exporter_url)
    facts = {"gpu": "simulated", "driver": ""} if simulated else _identity()
    version = vllm_version(python) or "unknown"
    command = " ".join(setup.server(caching=True).arguments[3:])
    recorder.mark(**facts, vllm=version, window=window, url=setup.url, command=command)
    with (out / "exporter.log").open("ab") as log:
        exporter = _popen(setup.exporter(simulated_file), log)
    run = Run(setup, card, recorder, deadline)
    try:
        while not _answers(f"{setup.exporter_url}/-/healthy"):
            if exporter.poll() is not None:
                raise click.ClickException(f"the exporter ended: see {out / 'exporter.log'}")
            time.sleep(0.2)
        recorder.start()
        run.all()
    finally:
        # The engine gives its memory back after the last scrapes: they show the card empty.
        run.recorder.phase("end")
        run.kill()
        card.give_back()
        recorder.stop()
        exporter.terminate()
        exporter.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
        with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
    document = compare.markdown(recording.load(path))
    (out / "truth.md").write_text(document, encoding="utf-8")
    print(document)


if __name__ == "__main__":
    main()
