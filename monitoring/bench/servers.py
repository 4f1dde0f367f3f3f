"""Servers that are started for a measurement, and stopped after it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from monitoring.supervision import log, ports
from monitoring.supervision.component import Component
from monitoring.supervision.guardian import Guardian
from monitoring.supervision.process import Child
from monitoring.supervision.supervisor import answers
from monitoring.vllm import model as tiny
from monitoring.vllm.server import GPUOptions, cpu_server, gpu_server

HOST = "127.0.0.1"
START_SECONDS = 1800.0
"""A large model is read from disk and compiled for; it may take long."""

_POLL_SECONDS = 0.5
_LOG_LINES = 12


@dataclass(frozen=True)
class ServerPlan:
    """How servers are started.

    Attributes:
        python: An interpreter that has vLLM.
        model: A model for the GPU; None for the tiny one on the CPU.
        port: Where it listens.
        exporter_port: Where the exporter beside it listens.
        run: Folder of the tiny model and of the logs.
        flags: Further arguments for vLLM.
    """

    python: Path
    model: str | None
    port: int
    exporter_port: int
    run: Path
    flags: tuple[str, ...]

    @property
    def url(self) -> str:
        """Root of the server."""
        return f"http://{HOST}:{self.port}"

    @property
    def exporter_url(self) -> str:
        """Root of the exporter beside it."""
        return f"http://{HOST}:{self.exporter_port}"


def vllm(plan: ServerPlan, extra: Sequence[str]) -> Component:
    """Return the server with further arguments, which win over those of the plan."""
    flags = (*plan.flags, *extra)
    if plan.model:
        command = gpu_server(plan.python, GPUOptions(plan.model, extra=flags), port=plan.port)
    else:
        folder = tiny.write(plan.run / "tiny-model")
        command = cpu_server(plan.python, folder, port=plan.port, extra=flags)
    return Component(
        name="bench-vllm",
        command=command.arguments,
        host=HOST,
        port=plan.port,
        port_flag="--port",
        ready_path="/health",
        environment=command.environment,
        start_seconds=START_SECONDS,
        stop_seconds=30.0,
    )


def exporter(plan: ServerPlan) -> Component:
    """Return the exporter beside the server, which knows the GPUs that the server sees."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").strip()
    return Component(
        name="bench-exporter",
        command=(
            *(sys.executable, "-m", "exporter", "--vllm.url", plan.url),
            *("--web.listen-address", f"{HOST}:{plan.exporter_port}", "--cache.window", "30s"),
            *(f"--server.gpus={gpus}" for gpus in [visible] if gpus),
        ),
        host=HOST,
        port=plan.exporter_port,
        port_flag="--exporter-port",
        ready_path="/-/healthy",
        start_seconds=30.0,
    )


@contextmanager
def running(
    component: Component, logs: Path, progress: Callable[[str], None] = lambda _: None
) -> Iterator[str]:
    """Run a program as long as the context lasts; yields its URL once it is ready.

    A guardian ends it where this process is killed before it can.

    Raises:
        ClickException: Its port is in use, it ends, or it is not ready in time.
    """
    ports.check(component)
    path = logs / f"{component.name}.log"
    with closing(Guardian(logs / "guardian.log")) as guardian:
        try:
            child = Child(component, path)
        except OSError as error:
            raise click.ClickException(f"{component.name} cannot be started: {error}") from None
        guardian.watch(child.pid, component.stop_seconds)
        try:
            _wait(component, child, path, progress)
            yield component.url
        finally:
            child.stop()
            guardian.forget(child.pid)


def _wait(component: Component, child: Child, path: Path, progress: Callable[[str], None]) -> None:
    start = time.monotonic()
    while not answers(component.ready_url):
        seconds = time.monotonic() - start
        ended = child.poll() is not None
        if ended or seconds > component.start_seconds:
            lines = log.tail(path, _LOG_LINES, child.log_offset)
            what = "ended" if ended else f"is not ready after {seconds:.0f} s"
            raise click.ClickException("\n".join([f"{component.name} {what}; {path}:", *lines]))
        progress(f"starting {component.name}, {seconds:.0f} s")
        time.sleep(_POLL_SECONDS)
