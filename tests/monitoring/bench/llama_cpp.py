"""A real llama-server of Debian's, and a tiny model for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np

from monitoring import debian
from monitoring.supervision.component import Component
from monitoring.vllm import model

PROGRAM = "llama-server"
LIBRARIES = (
    *("libllama0", "libggml0", "libssl3t64", "libzstd1"),
    # Debian's testing has newer ones than most machines.
    *("libc6", "libgcc-s1", "libstdc++6", "libgomp1"),
)
PACKAGE = "llama.cpp-tools"

CONTEXT_TOKENS = 4096
WIDTH, LAYERS, HEADS = 256, 4, 4


def server(tools: Path, file: Path, port: int) -> Component:
    """Return llama-server with a model; it is unpacked there (15 MB) where it is not on PATH.

    Raises:
        ArchiveError: It cannot be had.
    """
    arguments = (
        *("--model", str(file), "--ctx-size", str(2 * CONTEXT_TOKENS), "--parallel", "2"),
        # More threads wait for each other in a loop, which a busy machine makes a long one.
        *("--threads", "1", "--threads-batch", "1"),
        *("--host", "127.0.0.1", "--port", str(port), "--no-webui"),
    )
    command, folder = _program(tools)
    return Component(
        PROGRAM, (*command, *arguments), "127.0.0.1", port, "--port", "/health", folder=folder
    )


def _program(tools: Path) -> tuple[tuple[str, ...], Path | None]:
    """Return how it is started, and in which folder: it looks for its backends there."""
    if found := shutil.which(PROGRAM):
        return (found,), None
    unpacked = tools / "llama.cpp"
    packages = (*LIBRARIES, PACKAGE)
    if not all((unpacked / package).is_dir() for package in packages):
        debian.unpack(packages, unpacked, step=print)
    (loader,) = (unpacked / "libc6/usr/lib").glob("*/ld-linux*.so.*")
    (backends,) = (unpacked / "libggml0/usr/lib").glob("*/ggml/backends*")
    paths = sorted({str(path.parent) for path in unpacked.glob("*/usr/lib/*/**/*.so*")})
    program = unpacked / PACKAGE / "usr/bin" / PROGRAM
    return (str(loader), "--library-path", ":".join(paths), str(program)), backends


def write_model(folder: Path) -> Path:
    """Write the kit's tokenizer and a Llama of random weights that has the same one."""
    model.write(folder)
    vocabulary, merges = model.vocabulary()
    path = folder / "tiny-llama.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(vocabulary))
    special = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([special[token not in model.SPECIAL_TOKENS] for token in vocabulary])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(vocabulary["<eos>"])
    writer.add_bos_token_id(vocabulary["<bos>"])
    writer.add_add_bos_token(False)
    random = np.random.default_rng(0)
    shapes = {"token_embd": (len(vocabulary), WIDTH), "output": (len(vocabulary), WIDTH)}
    for index in range(LAYERS):
        square = dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), (WIDTH, WIDTH))
        wide = dict.fromkeys(("ffn_gate", "ffn_up"), (2 * WIDTH, WIDTH))
        layer = {**square, **wide, "ffn_down": (WIDTH, 2 * WIDTH)}
        shapes |= {f"blk.{index}.{name}": shape for name, shape in layer.items()}
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{index}.{norm}.weight", np.ones(WIDTH, dtype=np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    for name, shape in shapes.items():
        values = (0.05 * random.standard_normal(shape)).astype(np.float32)
        writer.add_tensor(f"{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
