"""The command behind ``make soak``; run it as ``python -m tests.soak`` in the checkout."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import cycle
from pathlib import Path

import click

from monitoring import folders
from monitoring.demo.prompts import Kind
from monitoring.demo.traffic import Traffic
from monitoring.supervision.guardian import Guardian
from monitoring.vllm import interpreter
from monitoring.vllm.server import TINY_MODEL_NAME
from tests.soak.footprint import Footprint
from tests.soak.relay import Relay
from tests.soak.report import Soak
from tests.soak.scraper import Scraper
from tests.soak.server import STOP_SECONDS, Faults, Server, answers, free_port

PROMETHEUS_TEXT = "text/plain;version=0.0.4"
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
GIB = 1024**3
PHASES: tuple[tuple[Kind | None, float], ...] = (
    ("shared", 40.0),
    ("unique", 30.0),
    (None, 15.0),
    ("shared", 20.0),
    ("unique", 60.0),
    (None, 90.0),
)
"""Prompts of which kind, or none, for how many seconds."""


@click.command()
@click.option("--seconds", default=3600.0, envvar="SOAK_SECONDS", help="How long it runs.")
@click.option("--window", default=60.0, help="The exporter's --cache.window in seconds.")
@click.option("--fault-every", default=150.0, help="Seconds between two faults of vLLM.")
@click.option("--rate", default=1.5, help="Requests to vLLM a second.")
@click.option("--python", type=click.Path(path_type=Path), help="A Python that has vLLM.")
@click.option("--summary", type=click.Path(path_type=Path), help="File for the summary too.")
def main(
    seconds: float,
    window: float,
    fault_every: float,
    rate: float,
    python: Path | None,
    summary: Path | None,
) -> None:
    """Run the exporter beside a real vLLM that fails and restarts, and check every figure."""
    python = interpreter.find(folders.tools(), python)
    # An exception, so that vLLM and the exporter end too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="soak-") as name, ExitStack() as stack:
        folder = Path(name)
        guardian = stack.enter_context(closing(Guardian(folder / "guardian.log")))
        server = Server(python, folder, guardian)
        stack.callback(server.kill)
        server.start()
        print("waiting for vLLM", flush=True)
        server.wait_until_ready(threading.Event())
        relay = Relay(server.port)
        relay.start()
        stack.callback(relay.stop)
        exporter, port = stack.enter_context(_exporter(folder, relay.port, window, guardian))
        footprint = Footprint(exporter.pid)
        footprint.start()
        scrapers = [
            Scraper(port, relay, 3.0, window, PROMETHEUS_TEXT),
            Scraper(port, relay, 7.0, window, OPENMETRICS),
        ]
        faults = Faults(server, fault_every, window)
        for scraper in scrapers:
            scraper.start()
        faults.start()
        soak = Soak(
            interpreter.vllm_version(python) or "?",
            server,
            faults,
            scrapers,
            footprint,
            folder / "exporter.log",
        )
        until = time.monotonic() + seconds
        for count in _traffic(server, until, rate):
            soak.answered += count
            print(f"{max(0.0, until - time.monotonic()):.0f} s left: {soak.progress()}", flush=True)
            if summary:
                summary.write_text(soak.summary() + "\n", encoding="utf-8")
            if exporter.poll() is not None or faults.failure:
                break
        faults.stop()
        for scraper in scrapers:
            scraper.stop()
        footprint.stop()
        soak.end(exporter_lives=exporter.poll() is None)
        text = soak.summary()
    print(text)
    if summary:
        summary.write_text(text + "\n", encoding="utf-8")
    sys.exit(1 if soak.wrong() else 0)


@contextmanager
def _exporter(
    folder: Path, upstream: int, window: float, guardian: Guardian
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    gpus = folder / "gpus.json"
    gpu = {"name": "Simulated 24 GiB", "total_bytes": 24 * GIB, "used_bytes": 18 * GIB}
    gpus.write_text(json.dumps({"gpus": [{**gpu, "reserved_bytes": GIB // 4}]}))
    command = [
        *(sys.executable, "-m", "exporter", f"--vllm.url=http://127.0.0.1:{upstream}"),
        *("--server.name=soak", f"--cache.window={window:g}s", "--gpu.backend=simulated"),
        *(f"--gpu.simulated-file={gpus}", f"--web.listen-address=127.0.0.1:{port}"),
    ]
    with (folder / "exporter.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    guardian.watch(process.pid, STOP_SECONDS)
    try:
        while not answers(port, "/-/ready"):
            if process.poll() is not None:
                raise RuntimeError(f"the exporter ended at its start: see {log.name}")
            time.sleep(0.2)
        yield process, port
    finally:
        process.terminate()
        process.wait(10)
        guardian.forget(process.pid)


def _traffic(server: Server, until: float, rate: float) -> Iterator[int]:
    """Send prompts of changing kinds, with pauses; yield the number answered after each phase."""
    for number, (kind, lasting) in enumerate(cycle(PHASES)):
        remaining = until - time.monotonic()
        if remaining <= 0:
            return
        if kind is None:
            time.sleep(min(lasting, remaining))
            yield 0
            continue
        with Traffic(server.url, TINY_MODEL_NAME, kind, seed=number, rate=rate) as traffic:
            time.sleep(min(lasting, remaining))
        yield traffic.answered


if __name__ == "__main__":
    main()
