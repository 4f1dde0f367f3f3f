"""`setup --gguf` and `up --model FILE.gguf` with a real vLLM on the CPU and the real plugin.

The matrices are BF16: the kernels for quantized ones need a GPU.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from monitoring import folders
from monitoring.gguf import tiny
from monitoring.options import Ports
from monitoring.setup import setup
from monitoring.vllm import interpreter, model
from monitoring.vllm.server import START_SECONDS

pytestmark = [pytest.mark.live, pytest.mark.timeout(4 * START_SECONDS)]

SITE = "import sysconfig; print(sysconfig.get_paths()['purelib'])"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An environment on top of vLLM's, so that what is installed leaves that as it is."""
    below = interpreter.find(folders.tools())
    subprocess.run([below, "-m", "venv", tmp_path / "vllm"], check=True)
    python = tmp_path / "vllm" / "bin" / "python"
    sites = [
        subprocess.run([each, "-c", SITE], capture_output=True, text=True, check=True).stdout
        for each in (below, python)
    ]
    Path(sites[1].strip(), "below.pth").write_text(sites[0])
    return python


def test_a_gguf_file_is_served_by_up(python: Path, tmp_path: Path, free_ports: Ports) -> None:
    installed = CliRunner().invoke(setup, ["--gguf", "--vllm-python", str(python)])
    assert installed.exit_code == 0, installed.output
    # Keys that serve as values, as in Gemma 4 31B.
    config = model.configuration() | {"attention_k_eq_v": True, "num_global_key_value_heads": 1}
    file = tiny.write(tmp_path / "model", "BF16", config)
    arguments = [
        *("--model", file, "--tokenizer", file.parent, "--served-model-name", "gemma"),
        *("--vllm-python", python, "--run-dir", tmp_path / "run"),
    ]
    for name in Ports.__dataclass_fields__:
        arguments += [f"--{name}-port", str(getattr(free_ports, name))]
    with (
        (tmp_path / "output").open("w") as output,
        subprocess.Popen(
            [sys.executable, "-m", "monitoring", "up", *arguments],
            cwd=folders.root(),
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as up,
    ):
        try:
            _wait(f"http://127.0.0.1:{free_ports.exporter}/-/ready", up, tmp_path / "output")
            texts = [_ask(f"http://127.0.0.1:{free_ports.vllm}") for _ in range(2)]
            page = requests.get(f"http://127.0.0.1:{free_ports.exporter}/metrics", timeout=10).text
        finally:
            up.send_signal(signal.SIGINT)
            up.wait(60)
    assert texts[0] == texts[1] != ""
    assert 'model_name="gemma"' in page
    assert "load format `gguf`" in (tmp_path / "run" / "logs" / "vllm.log").read_text()
    assert up.returncode == 0


def _wait(url: str, up: subprocess.Popen[bytes], output: Path) -> None:
    while up.poll() is None:
        try:
            if requests.get(url, timeout=5).ok:
                return
        except requests.ConnectionError:
            pass
        time.sleep(0.5)
    pytest.fail(output.read_text())


def _ask(url: str) -> str:
    body = {"model": "gemma", "prompt": "the time of", "max_tokens": 6, "temperature": 0}
    answer = requests.post(f"{url}/v1/completions", json=body, timeout=60).json()
    return str(answer["choices"][0]["text"])
