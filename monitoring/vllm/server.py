"""The command line and the environment that start a vLLM server.

Nothing is started here. Two servers are known: the tiny one for machines without a GPU, and
the one that serves a real model on GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MODULE = "vllm.entrypoints.openai.api_server"
"""vLLM's server, as ``python -m`` starts it."""

TINY_MODEL_NAME = "tiny-gemma4"
"""What requests to the tiny server call its model."""

START_SECONDS = 300.0
"""How long a start may take: measured were 35 s, and 72 s with nothing in the disk's cache."""

CPU_BLOCK_TOKENS = 32
"""The smallest block of vLLM's CPU attention.

A full-attention layer of Gemma 4 has heads twice as large, so both kinds agree on every
second block: prefixes are found in steps of 64 tokens.
"""

CPU_CACHE_BYTES = 256 * 1024**2
"""Room for some 95 000 tokens of the tiny model."""

TINY_MODEL_LENGTH_TOKENS = 4096


@dataclass(frozen=True)
class Command:
    """How to start a process.

    Attributes:
        arguments: The program and its arguments.
        environment: Variables to set besides those that are there already.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class GPUOptions:
    """How a real model is served; the defaults are those of the whole kit.

    Attributes:
        model: A name on the Hugging Face hub, or a folder.
        served_name: What requests call the model; None is for the same name.
        prefix_caching: Whether prompts share what they have in common.
        block_size: Tokens per block of the cache.
        max_model_length: Prompt and answer together, in tokens.
        memory_share: The share of the GPU's memory that vLLM takes at start and keeps. Not
            0.9, vLLM's former default: a healthy server then stands above the alert for ever.
        max_sequences: Requests that are computed at the same time.
        extra: Further arguments for vLLM.
    """

    model: str
    served_name: str | None = None
    prefix_caching: bool = True
    block_size: int = 16
    max_model_length: int = 4096
    memory_share: float = 0.85
    max_sequences: int = 8
    extra: tuple[str, ...] = field(default=())


def cpu_server(
    python: Path,
    model: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    extra: Sequence[str] = (),
) -> Command:
    """Return the command for the tiny model on the CPU.

    Args:
        python: An interpreter that has vLLM.
        model: The folder that `monitoring.vllm.model.write` has filled.
        host: The address to listen on.
        port: The port to listen on.
        extra: Further arguments for vLLM.
    """
    arguments = [
        *_listening(python, str(model), TINY_MODEL_NAME, host, port),
        # Random weights need no file, and without a compiler the start takes seconds less.
        "--load-format=dummy",
        "--enforce-eager",
        "--dtype=bfloat16",
        "--enable-prefix-caching",
        f"--block-size={CPU_BLOCK_TOKENS}",
        f"--kv-cache-memory-bytes={CPU_CACHE_BYTES}",
        f"--max-model-len={TINY_MODEL_LENGTH_TOKENS}",
        "--max-num-seqs=8",
        # One process less than usual: 12 s sooner, 600 MB smaller.
        "--distributed-executor-backend=uni",
        *extra,
    ]
    environment = {
        **_quiet_and_private(),
        # vLLM grants the line above only with this; the engine has its own process all the same.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # Bound to a core, vLLM would fight with whatever else is there; one thread is enough.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
        # Nothing is to be downloaded, so nothing is to be asked for either.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }
    return Command(tuple(arguments), environment)


def gpu_server(
    python: Path, options: GPUOptions, *, host: str = "127.0.0.1", port: int = 8000
) -> Command:
    """Return the command for a real model on this machine's GPUs.

    Args:
        python: An interpreter that has vLLM.
        options: How to serve the model.
        host: The address to listen on.
        port: The port to listen on.
    """
    name = options.served_name or options.model
    caching = "--enable-prefix-caching" if options.prefix_caching else "--no-enable-prefix-caching"
    arguments = [
        *_listening(python, options.model, name, host, port),
        caching,
        f"--block-size={options.block_size}",
        f"--max-model-len={options.max_model_length}",
        f"--gpu-memory-utilization={options.memory_share:g}",
        f"--max-num-seqs={options.max_sequences}",
        *options.extra,
    ]
    return Command(tuple(arguments), _quiet_and_private())


def _listening(python: Path, model: str, name: str, host: str, port: int) -> list[str]:
    return [
        str(python),
        "-m",
        MODULE,
        f"--model={model}",
        f"--served-model-name={name}",
        f"--host={host}",
        f"--port={port}",
        # The last lines of the log are for what went wrong, not for who asked what.
        "--disable-uvicorn-access-log",
    ]


def _quiet_and_private() -> dict[str, str]:
    return {
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_DO_NOT_TRACK": "1",
        "VLLM_LOGGING_COLOR": "0",
        # vLLM's processes talk to each other; that stays on this machine.
        "VLLM_HOST_IP": "127.0.0.1",
        "PYTHONUNBUFFERED": "1",
    }
