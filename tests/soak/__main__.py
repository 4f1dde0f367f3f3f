"""The command behind ``make soak``; run it as ``python -m tests.soak`` in the checkout."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from monitoring import folders
from monitoring.demo.prompts import Kind
from monitoring.demo.traffic import Traffic
from monitoring.vllm import interpreter
from monitoring.vllm.server import TINY_MODEL_NAME
from tests.soak.footprint import Footprint
from tests.soak.relay import Relay
from tests.soak.scraper import Scraper
from tests.soak.server import Faults, Server, free_port

PROMETHEUS_TEXT = "text/plain;version=0.0.4"
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
SHOWN_FAULTS = 20
GIB = 1024**3


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
    with tempfile.TemporaryDirectory(prefix="soak-") as name, ExitStack() as stack:
        folder = Path(name)
        server = Server(python, folder)
        stack.callback(server.kill)
        server.start()
        print("waiting for vLLM", flush=True)
        server.wait_until_ready(threading.Event())
        relay = Relay(server.port)
        relay.start()
        stack.callback(relay.stop)
        exporter, port = stack.enter_context(_exporter(folder, relay.port, window))
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
        began = time.monotonic()
        answered = _traffic(server, exporter, faults, scrapers, began + seconds, rate)
        faults.stop()
        for scraper in scrapers:
            scraper.stop()
        footprint.stop()
        lasted = time.monotonic() - began
        cpu = footprint.cpu_seconds() if exporter.poll() is None else 0.0
        wrong = [fault for scraper in scrapers for fault in scraper.tally.faults]
        wrong += footprint.faults()
        wrong += [faults.failure] if faults.failure else []
        wrong += [] if exporter.poll() is None else ["the exporter has ended"]
        wrong += [] if any(s.tally.compared for s in scrapers) else ["nothing was compared"]
        exporter_log = (folder / "exporter.log").read_text()
        wrong += ["a traceback in the exporter's log"] if "Traceback" in exporter_log else []
        text = _summary(
            interpreter.vllm_version(python) or "?",
            lasted,
            server,
            faults,
            answered,
            scrapers,
            f"{footprint.told()}; CPU {cpu:.1f} s; {len(exporter_log.splitlines())} lines of log",
            wrong,
        )
    print(text)
    if summary:
        summary.write_text(text + "\n", encoding="utf-8")
    sys.exit(1 if wrong else 0)


@contextmanager
def _exporter(
    folder: Path, upstream: int, window: float
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
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ})
    try:
        time.sleep(3.0)
        yield process, port
    finally:
        process.terminate()
        process.wait(10)


def _traffic(
    server: Server,
    exporter: subprocess.Popen[bytes],
    faults: Faults,
    scrapers: list[Scraper],
    until: float,
    rate: float,
) -> int:
    """Send prompts of changing kinds, with pauses, until the time; return those answered."""
    answered = 0
    phases: tuple[tuple[Kind | None, float], ...] = (
        ("shared", 40.0),
        ("unique", 30.0),
        (None, 15.0),
        ("shared", 20.0),
        ("unique", 60.0),
        (None, 90.0),
    )
    number = 0
    while time.monotonic() < until and exporter.poll() is None and not faults.failure:
        kind, lasting = phases[number % len(phases)]
        number += 1
        lasting = min(lasting, max(0.0, until - time.monotonic()))
        if kind is None:
            time.sleep(lasting)
        else:
            with Traffic(server.url, TINY_MODEL_NAME, kind, seed=number, rate=rate) as traffic:
                time.sleep(lasting)
            answered += traffic.answered
        done = ", ".join(
            f"{s.tally.scrapes} scrapes, {len(s.tally.faults)} wrong" for s in scrapers
        )
        print(f"{max(0.0, until - time.monotonic()):.0f} s left: {done}", flush=True)
    return answered


def _summary(
    version: str,
    lasted: float,
    server: Server,
    faults: Faults,
    answered: int,
    scrapers: list[Scraper],
    footprint: str,
    wrong: list[str],
) -> str:
    lines = [
        f"Soak of {lasted:.0f} s beside vLLM {version}: {'FAILED' if wrong else 'all in order'}",
        f"vLLM: {server.starts} starts; "
        + ", ".join(f"{kind} {count}" for kind, count in faults.done.items())
        + f"; {answered} requests answered",
    ]
    for scraper in scrapers:
        tally = scraper.tally
        middle = statistics.median(tally.seconds) * 1e3 if tally.seconds else 0.0
        lines.append(
            f"Scraper every {scraper.every_seconds:g} s: {tally.scrapes} scrapes (median "
            f"{middle:.1f} ms), {tally.compared} hit rates equal to the direct computation "
            f"(largest difference {tally.largest_difference:.5f}), {tally.absent} rightly absent, "
            f"{len(tally.faults)} wrong"
        )
    lines.append(f"Exporter: {footprint}")
    lines += [f"WRONG: {fault}" for fault in wrong[:SHOWN_FAULTS]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
