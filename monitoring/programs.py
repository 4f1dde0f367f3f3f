"""The programs that the chain's options call for, and whether this machine can run them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pynvml

from dashboards.preview import bundle
from monitoring import binaries
from monitoring.options import ChainOptions
from monitoring.supervision.errors import ChainError
from monitoring.vllm import interpreter


@dataclass(frozen=True)
class Programs:
    """The files to start.

    Attributes:
        prometheus: Prometheus.
        alertmanager: Alertmanager.
        grafana: Grafana; None where there is none.
        preview: The built page of the preview; None where it is not built, or Grafana is there.
        vllm_python: Interpreter for the bundled server; None where none is to be started.
    """

    prometheus: Path
    alertmanager: Path
    grafana: Path | None
    preview: Path | None
    vllm_python: Path | None


def find(options: ChainOptions, tools: Path) -> Programs:
    """Return the programs that the options call for.

    Raises:
        SetupError: One is missing; the message says how to get it.
    """
    found = binaries.provide(binaries.CHAIN, tools)
    grafana = binaries.find("grafana", tools)
    return Programs(
        prometheus=found["prometheus"],
        alertmanager=found["alertmanager"],
        grafana=grafana.path if grafana else None,
        preview=None if grafana else bundle.built(bundle.default_folder()),
        vllm_python=None if options.vllm_url else _vllm_python(options, tools),
    )


def _vllm_python(options: ChainOptions, tools: Path) -> Path:
    gpu = options.model is not None and not options.model_on_cpu
    return interpreter.find(tools, options.vllm_python, gpu=gpu)


def has_gpu() -> bool:
    """Tell whether NVML finds a GPU."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    try:
        return bool(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return False
    finally:
        pynvml.nvmlShutdown()


def check(options: ChainOptions) -> None:
    """Raise ChainError for options that cannot work on this machine."""
    if options.model and not options.model_on_cpu and not has_gpu():
        raise ChainError(
            f"--model {options.model} needs a GPU, and NVML finds none here: leave --model away "
            "for the tiny model on the CPU, or give --vllm-url for a server elsewhere"
        )
