"""The examination of a real vLLM on a CPU, and of the same without prefix caching."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from monitoring import folders
from monitoring.smoke.command import command
from monitoring.vllm import interpreter, model
from monitoring.vllm.server import START_SECONDS, cpu_server

pytestmark = [pytest.mark.live, pytest.mark.timeout(2 * START_SECONDS)]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def vllm(folder: Path, *extra: str) -> Iterator[str]:
    port = free_port()
    python = interpreter.find(folders.tools())
    start = cpu_server(python, model.write(folder / "tiny"), port=port, extra=extra)
    url = f"http://127.0.0.1:{port}"
    with (folder / "vllm.log").open("w") as log:
        process = subprocess.Popen(
            start.arguments,
            env={**os.environ, **start.environment},
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                requests.get(f"{url}/health", timeout=2).raise_for_status()
                break
            except requests.RequestException:
                assert process.poll() is None, (folder / "vllm.log").read_text()[-2000:]
                assert time.monotonic() < deadline
                time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_a_real_server_passes_with_the_step_of_its_log(tmp_path: Path) -> None:
    with vllm(tmp_path) as url:
        result = CliRunner().invoke(command, [url, "--json"])
    answer = json.loads(result.stdout)
    assert result.exit_code == 0, answer
    checks = {check["name"]: check for check in answer["checks"]}
    assert {check["status"] for check in checks.values()} == {"pass"}
    assert checks["architecture"]["data"]["architecture"] == "Gemma4ForCausalLM"
    assert "kv lcm block sizes 64" in (tmp_path / "vllm.log").read_text()
    assert checks["repeated prompt"]["data"]["step"] == 64
    assert checks["repeated prompt"]["data"]["found"] > 2000


def test_a_real_server_without_caching_fails(tmp_path: Path) -> None:
    with vllm(tmp_path, "--no-enable-prefix-caching") as url:
        result = CliRunner().invoke(command, [url, "--json"])
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    failed = [check["name"] for check in answer["checks"] if check["status"] == "fail"]
    assert failed == ["prefix caching", "repeated prompt"]
