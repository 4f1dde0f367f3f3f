"""What is measured, and how each is started."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GIB = 1024**3
DELAY_SECONDS = 0.010
"""How long the stand-ins of many servers take to answer."""

NVITOP = "nvitop_exporter"


@dataclass(frozen=True)
class Subject:
    """One exporter with one configuration.

    Attributes:
        name: What the table calls it.
        command: Program and arguments; ``{port}`` stands for the port to serve at.
        module: What it imports before it can serve.
        ready_path: Answers 200 once it serves.
        delayed: Whether its servers answer after `DELAY_SECONDS`.
        servers: How many servers it asks at each scrape.
        cheap: Whether it can be scraped ten thousand times in a few minutes.
    """

    name: str
    command: Sequence[str]
    module: str
    ready_path: str
    delayed: bool
    servers: int
    cheap: bool


def write_gpus(path: Path, count: int) -> Path:
    """Write a file of ``count`` simulated GPUs."""
    gpu = {
        "name": "Simulated 24 GiB",
        "total_bytes": 24 * GIB,
        "reserved_bytes": GIB // 4,
        "used_bytes": 19 * GIB,
        "utilization": 0.5,
        "power_watts": 300,
        "temperature_celsius": 60,
    }
    gpus = [{**gpu, "uuid": f"GPU-{number}"} for number in range(count)]
    path.write_text(json.dumps({"gpus": gpus}), encoding="utf-8")
    return path


def all_subjects(
    folder: Path, standin: int, delayed_standin: int
) -> tuple[list[Subject], dict[str, str]]:
    """Return what can be measured here, and why the rest cannot, by name.

    Args:
        folder: Where files may be written.
        standin: Port of the stand-in that answers at once.
        delayed_standin: Port of the one that waits `DELAY_SECONDS`.
    """
    url = f"http://127.0.0.1:{standin}/server-0"
    subjects = [
        _exporter(folder, f"this exporter, {n} GPU{'s' * (n > 1)}", n, [url]) for n in (1, 8)
    ]
    subjects.append(
        Subject(
            "plain exporter, full parse",
            (
                *(sys.executable, "-m", "tests.benchmarks.exporter.plain"),
                *("--port", "{port}", "--url", f"{url}/metrics"),
            ),
            "tests.benchmarks.exporter.plain",
            "/metrics",
            delayed=False,
            servers=1,
            cheap=False,
        )
    )
    for count in (1, 16, 64):
        urls = [f"http://127.0.0.1:{delayed_standin}/server-{n}" for n in range(count)]
        name = f"this exporter, {count} server{'s' * (count > 1)} of 10 ms"
        subjects.append(_exporter(folder, name, 1, urls, delayed=True))
    missing = {}
    if _has_driver():
        subjects.append(
            _subject("this exporter, this machine's GPUs", ["--gpu.backend=nvml"], [url])
        )
    if reason := _nvitop_lacks():
        missing["nvitop-exporter"] = reason
    else:
        command = (sys.executable, "-m", NVITOP, "--bind-address", "127.0.0.1", "--port", "{port}")
        subjects.append(
            Subject(
                "nvitop-exporter", command, NVITOP, "/metrics", delayed=False, servers=0, cheap=True
            )
        )
    return subjects, missing


def _exporter(
    folder: Path, name: str, gpus: int, urls: Sequence[str], delayed: bool = False
) -> Subject:
    file = write_gpus(folder / f"gpus-{gpus}.json", gpus)
    backend = ["--gpu.backend=simulated", f"--gpu.simulated-file={file}"]
    return _subject(name, backend, urls, delayed)


def _subject(
    name: str, backend: Sequence[str], urls: Sequence[str], delayed: bool = False
) -> Subject:
    options = [
        *(f"--vllm.url={url}" for url in urls),
        *(f"--server.name=server-{number}" for number in range(len(urls))),
        *backend,
        "--web.listen-address=127.0.0.1:{port}",
    ]
    command = (sys.executable, "-m", "exporter", *options)
    return Subject(name, command, "exporter.__main__", "/-/ready", delayed, len(urls), not delayed)


def _nvitop_lacks() -> str:
    """Return why nvitop-exporter cannot run here; empty if it can."""
    if importlib.util.find_spec(NVITOP) is None:
        return "not installed: pip install nvitop-exporter"
    return "" if _has_driver() else "it ends at once without NVIDIA's driver"


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True
