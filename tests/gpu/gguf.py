"""Quantized GGUF files on this machine's GPU, held against the same weights not quantized.

    python3 -m tests.gpu.gguf --out DIR --python PY [--kind Q4_K_M]... [--other-plugin DIR]

``PY`` has vLLM, vllm-gguf-plugin and the kit's adapter. One server after the other is started with
the flags of docs/gguf.md: first the reference, a checkpoint in BF16 that needs no plugin, then
each file. All are asked for the probabilities of the same tokens. One that fails is told with
its log's end, and the next is tried. Results are written after each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import requests

from monitoring import metrics_page
from monitoring.bench.servers import running
from monitoring.gguf import serving
from monitoring.supervision import log
from monitoring.supervision.component import Component
from monitoring.vllm.server import cpu_server, gpu_server
from tests.gpu import likeness, mixture
from tests.gpu.gguf_table import Result, limit, markdown, row, verdict
from tests.gpu.likeness import Answer

NAME = "tiny-gemma4"
PORT = 18973
START_SECONDS = 400.0
LOG_LINES = 40

KINDS = ("BF16", "Q4_K_M", "Q8_0", "Q4_0")

QUESTION = """
import importlib.metadata as m, importlib.util, pathlib, torch
print(m.version("vllm-gguf-plugin"), torch.__version__)
folder = importlib.util.find_spec("vllm_gguf_plugin").submodule_search_locations[0]
path = next(pathlib.Path(folder).glob("_C_gguf*.so"))
try: torch.ops.load_library(str(path)); print("CUDA")
except OSError as error: print("Triton:", error)
"""
"""The plugin falls back to Triton without a word where torch is older than its CUDA kernels."""


@dataclass(frozen=True)
class Plan:
    """How servers are started: interpreter, folder, further flags, and on what."""

    python: Path
    out: Path
    flags: tuple[str, ...]
    cpu: bool


def component(plan: Plan, label: str, folder: Path, file: Path | None, beside: str) -> Component:
    """Return the server of a GGUF file, or of the checkpoint in its folder where there is none."""
    if plan.cpu:
        model = [f"--model={file}", f"--tokenizer={folder}"] if file else []
        extra = [*model, "--load-format=auto", f"--served-model-name={NAME}", *plan.flags]
        command = cpu_server(plan.python, folder, port=PORT, extra=extra)
    else:
        options = serving.options(file or folder, folder, NAME, plan.flags)
        command = gpu_server(plan.python, options, port=PORT)
    path = os.pathsep.join(filter(None, (beside, os.environ.get("PYTHONPATH"))))
    # Temperature 0 needs none of FlashInfer's samplers, which take a minute to compile.
    environment = {"VLLM_USE_FLASHINFER_SAMPLER": "0", "HF_HUB_OFFLINE": "1", "PYTHONPATH": path}
    return Component(
        name=f"gguf-{label}",
        command=command.arguments,
        host="127.0.0.1",
        port=PORT,
        port_flag="--port",
        ready_path="/health",
        environment={**command.environment, **environment},
        start_seconds=START_SECONDS,
        stop_seconds=30.0,
    )


def serve(plan: Plan, server: Component) -> tuple[Result, list[Answer]]:
    """Start a server, ask it, stop it."""
    label = server.name.removeprefix("gguf-")
    began = time.monotonic()
    try:
        with running(server, plan.out) as url:
            result = Result(label, round(time.monotonic() - began, 1), cache(url))
            asked = likeness.prompts(mixture.configuration()["vocab_size"])
            return result, [likeness.ask(url, NAME, prompt) for prompt in asked]
    except (click.ClickException, requests.RequestException, metrics_page.PageError) as error:
        print("\n".join(reason(plan.out / f"{server.name}.log")), flush=True)
        text = error.message if isinstance(error, click.ClickException) else str(error)
        return Result(label, failure=text.splitlines()[0]), []


def reason(path: Path) -> list[str]:
    """Return a log's lines that say why: those of the engine, which come before the server's."""
    lines = log.tail(path, 1000)
    return ([line for line in lines if "EngineCore" in line] or lines)[-LOG_LINES:]


def cache(url: str) -> dict[str, str]:
    """Return the labels of a server's ``vllm:cache_config_info``."""
    name = "vllm:cache_config_info"
    page = metrics_page.parse(metrics_page.fetch(url, 30), [name])
    return next((dict(sample.labels) for sample in page.samples if sample.name == name), {})


def environment(python: Path, beside: str) -> str:
    """Return the plugin's version, torch's, and which kernels can be loaded."""
    path = os.pathsep.join(filter(None, (beside, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [python, "-c", QUESTION],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return ", ".join((done.stdout or done.stderr[-300:]).split("\n")).strip(", ")


def main() -> int:
    """Run; 0 where each file is the same model as the reference."""
    arguments = _arguments()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    models = arguments.models or out / "models"
    plan = Plan(arguments.python, out, tuple(arguments.flag), arguments.cpu)
    kinds = arguments.kind or ["Q4_K_M", "Q8_0", "Q4_0"]
    plugins = {"plugin": environment(plan.python, "")}
    if arguments.other_plugin:
        plugins["other plugin"] = environment(plan.python, str(arguments.other_plugin))
    results: list[Result] = []
    reference: list[Answer] = []
    if arguments.reference:
        reference = likeness.from_json(json.loads(arguments.reference.read_text())["reference"])
    for server in _servers(plan, kinds, models, arguments):
        result, answers = serve(plan, server)
        if result.label == "reference":
            reference = answers
        elif answers and reference:
            found = likeness.compare(answers, reference)
            result = replace(result, likeness=found, limit=limit(result.label, arguments.of))
        results.append(result)
        print(row(result), flush=True)
        values = {"plugins": plugins, "results": [asdict(each) for each in results]}
        values["reference"] = likeness.to_json(reference)
        (out / "gguf.json").write_text(json.dumps(values, indent=1), encoding="utf-8")
        (out / "gguf.md").write_text(markdown(results, plugins), encoding="utf-8")
    print(markdown(results, plugins))
    return int(any(verdict(each) not in {"reference", "same model"} for each in results))


def _servers(plan: Plan, kinds: list[str], models: Path, arguments: Any) -> Iterator[Component]:
    if not arguments.reference:
        folder = mixture.write_reference(models / f"reference-{arguments.of}", arguments.of)
        yield component(plan, "reference", folder, None, "")
    for kind in kinds:
        file = mixture.write(models / kind, kind)
        yield component(plan, kind, file.parent, file, "")
        if kind == kinds[0] and arguments.other_plugin:
            beside = str(arguments.other_plugin)
            yield component(plan, f"{kind}@other-plugin", file.parent, file, beside)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description="Hold quantized GGUF against BF16.")
    parser.add_argument("--out", type=Path, required=True, help="for logs and results")
    parser.add_argument("--python", type=Path, required=True, help="interpreter that has vLLM")
    parser.add_argument("--models", type=Path, help="for the models (default: OUT/models)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="repeatable")
    parser.add_argument(
        "--of", choices=("Q4_K_M", "Q4_0"), default="Q4_K_M", help="weights of the reference"
    )
    parser.add_argument("--other-plugin", type=Path, help="folder with another plugin, tried too")
    parser.add_argument("--reference", type=Path, help="gguf.json of an earlier run")
    parser.add_argument("--flag", action="append", default=[], help="for vLLM; repeatable")
    parser.add_argument("--cpu", action="store_true", help="a CPU instead; for BF16 only")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
