"""The server of a model that the user names: on GPUs, or a GGUF file on the CPU."""

from __future__ import annotations

from pathlib import Path

from monitoring.gguf import serving
from monitoring.gguf.file import is_gguf
from monitoring.options import ChainOptions
from monitoring.vllm.server import Command, GPUOptions, cpu_server, gpu_server


def command(python: Path, model: str, options: ChainOptions) -> Command:
    """Return the command for a model.

    Args:
        python: An interpreter that has vLLM.
        model: A name on the hub, a folder, or a GGUF file with a tokenizer in the options.
        options: The chain's.
    """
    port, tokenizer = options.ports.vllm, options.tokenizer
    if tokenizer and is_gguf(model):
        file = Path(model).absolute()
        if options.model_on_cpu:
            name = options.served_name or file.stem
            extra = (
                *(f"--model={file}", f"--tokenizer={tokenizer.absolute()}", "--load-format=auto"),
                *(f"--served-model-name={name}", *options.flags),
            )
            return cpu_server(python, tokenizer, port=port, extra=extra)
        gguf = serving.options(file, tokenizer.absolute(), options.served_name, options.flags)
        return gpu_server(python, gguf, port=port)
    other = (f"--tokenizer={tokenizer}",) if tokenizer else ()
    real = GPUOptions(model, served_name=options.served_name, extra=(*other, *options.flags))
    return gpu_server(python, real, port=port)
