"""A tiny Gemma 4 as GGUF, served by a real vLLM on a CPU with vllm-gguf-plugin.

Its matrices are BF16: the kernels for quantized ones need a GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from monitoring import folders
from monitoring.bench.servers import running
from monitoring.gguf import tiny
from monitoring.supervision.component import Component
from monitoring.vllm import interpreter, model
from monitoring.vllm.server import START_SECONDS, cpu_server

pytestmark = [pytest.mark.live, pytest.mark.timeout(2 * START_SECONDS)]

PACKAGES = ("vllm-gguf-plugin==0.0.5", "gguf==0.19.0")
PORT = 18997


def test_a_gguf_file_is_served(tmp_path: Path) -> None:
    python = interpreter.find(folders.tools())
    beside = tmp_path / "beside"
    plugin = Path(tiny.__file__).parent / "plugin"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(beside)]
    subprocess.run([*pip, *PACKAGES, str(plugin)], check=True)
    # Keys that serve as values, as in Gemma 4 31B.
    config = model.configuration() | {"attention_k_eq_v": True, "num_global_key_value_heads": 1}
    file = tiny.write(tmp_path / "model", "BF16", config)
    extra = (f"--model={file}", f"--tokenizer={file.parent}", "--load-format=auto")
    command = cpu_server(python, file.parent, port=PORT, extra=extra)
    component = Component(
        "vllm-gguf",
        command.arguments,
        "127.0.0.1",
        PORT,
        "--port",
        "/health",
        environment={**command.environment, "PYTHONPATH": os.fspath(beside)},
        start_seconds=START_SECONDS,
    )
    with running(component, tmp_path) as url:
        body = {"model": "tiny-gemma4", "prompt": "the time of", "max_tokens": 6, "temperature": 0}
        texts = [
            requests.post(f"{url}/v1/completions", json=body, timeout=60).json()["choices"][0][
                "text"
            ]
            for _ in range(2)
        ]
    assert texts[0] == texts[1] != ""
    assert "load format `gguf`" in (tmp_path / "vllm-gguf.log").read_text()
