"""How a GGUF file is served on a card of 24 GB: the flags that `budget` finds for it.

Needs neither the package ``gguf`` nor vLLM.
"""

from __future__ import annotations

from pathlib import Path

from monitoring.vllm.server import GPUOptions

MAX_SEQUENCES = 2
"""Requests at the same time; eight would need more cache than 24 GB leave."""

MAX_MODEL_LENGTH_TOKENS = 4096

FLAGS = ("--max-num-batched-tokens=256", "--kv-cache-dtype=fp8")
"""Of Gemma 4 31B in Q4_K_M on 24 GiB, as `python -m monitoring budget` computes them."""


def options(
    file: Path, tokenizer: Path, served_name: str | None = None, extra: tuple[str, ...] = ()
) -> GPUOptions:
    """Return how to serve a file on a GPU.

    Args:
        file: The GGUF file; of one in parts the first.
        tokenizer: Folder with ``config.json`` and the tokenizer in transformers' format: vLLM
            takes neither from the file.
        served_name: What requests call the model; None is for the file's name without ending.
        extra: Further arguments for vLLM, which win over those here.
    """
    return GPUOptions(
        str(file),
        served_name=served_name or file.stem,
        max_model_length=MAX_MODEL_LENGTH_TOKENS,
        max_sequences=MAX_SEQUENCES,
        extra=(f"--tokenizer={tokenizer}", *FLAGS, *extra),
    )
