"""A tiny Gemma 4 whose matrices are quantized as in a file of Q4_K_M, and the same dequantized.

The package ``gguf`` reads the types Q4_K and Q6_K but does not write them. A matrix of random
weights needs no quantizing, though: any bytes in a block's place for numbers are numbers, so the
blocks are drawn at random, with scales that give weights of the wanted size.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType as Type

from monitoring.gguf import tiny
from monitoring.gguf.plugin.gguf_gemma4_text import names
from monitoring.vllm import model

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

BLOCK_WEIGHTS = 256
"""Weights in a block of K-quants; the columns of a matrix must be a multiple of it."""

SPREAD = 0.05
"""Standard deviation of the weights."""

_NORMS = {
    # Random queries and keys must not hit a single token.
    "attn_q_norm": 0.3,
    "attn_k_norm": 0.3,
    # Embeddings are the output too: without much from the layers any such model repeats its input.
    "post_attention_norm": 3.0,
    "post_ffw_norm": 3.0,
    # Answers are decided.
    "output_norm": 3.0,
    "layer_output_scale": 0.8,
}
"""Of tensors that are not about 1."""

_UNIFORM_16, _UNIFORM_64 = 4.61, 18.47
"""Standard deviation of a number of 4 and of 6 bits, each as likely as the other."""


def configuration() -> dict[str, Any]:
    """Return ``config.json``: 31B's kinds of layers, of keys and of values, four layers deep."""
    return model.configuration() | {
        # Whole blocks, as 31B's 262144 are; vLLM fills up others.
        "vocab_size": -(-len(model.vocabulary()[0]) // BLOCK_WEIGHTS) * BLOCK_WEIGHTS,
        "hidden_size": 512,
        "intermediate_size": 512,
        "num_hidden_layers": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "attention_k_eq_v": True,
        "num_global_key_value_heads": 1,
    }


def q4_k(random: np.random.Generator, rows: int, columns: int) -> Bytes:
    """Return rows of blocks of Q4_K: eight groups of 32 weights ``d * scale * n - m * minimum``."""
    blocks = rows * columns // BLOCK_WEIGHTS
    scales = random.integers(24, 57, (blocks, 8)).astype(np.uint8)
    # With m = 8 d the middle of the 16 numbers becomes nearly 0.
    minima = np.round(scales * 7.5 / 8).astype(np.uint8)
    d = SPREAD / (40 * _UNIFORM_16)
    sizes = np.broadcast_to(np.array([d, 8 * d], np.float16).view(np.uint8), (blocks, 4))
    numbers = random.integers(0, 256, (blocks, 128), np.uint8)
    return np.hstack([sizes, _packed(scales, minima), numbers]).reshape(rows, -1)


def _packed(scales: Bytes, minima: Bytes) -> Bytes:
    """Pack eight scales and eight minima of 6 bits each into 12 bytes, llama.cpp's way.

    The first four lie whole in the low bits; of the last four the low four bits lie together,
    and the high two on top of the first four.
    """
    low, high = slice(0, 4), slice(4, 8)
    return np.hstack(
        [
            scales[:, low] | (scales[:, high] >> 4 << 6),
            minima[:, low] | (minima[:, high] >> 4 << 6),
            (scales[:, high] & 0x0F) | (minima[:, high] << 4),
        ]
    )


def q6_k(random: np.random.Generator, rows: int, columns: int) -> Bytes:
    """Return rows of blocks of Q6_K: sixteen groups of 16 weights ``d * scale * (n - 32)``."""
    blocks = rows * columns // BLOCK_WEIGHTS
    numbers = random.integers(0, 256, (blocks, 192), np.uint8)
    scales = random.integers(12, 29, (blocks, 16)) * random.choice([-1, 1], (blocks, 16))
    size = np.array([SPREAD / (20 * _UNIFORM_64)], np.float16).view(np.uint8)
    return np.hstack(
        [numbers, scales.astype(np.int8).view(np.uint8), np.broadcast_to(size, (blocks, 2))]
    ).reshape(rows, -1)


def matrix_type(name: str, layers: int) -> Type:
    """Return the type that llama.cpp's Q4_K_M gives a matrix.

    Embeddings that are the output too have six bits, and so have values and the way down in
    the first and the last eighth of the layers and in each third one between.
    """
    if name == "token_embd.weight":
        return Type.Q6_K
    _, index, part, _ = name.split(".")
    eighth, layer = layers // 8, int(index)
    more = layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
    return Type.Q6_K if more and part in {"attn_v", "ffn_down"} else Type.Q4_K


def mixture(config: dict[str, Any], seed: int = 0) -> Iterator[tiny.Part]:
    """Yield the tensors of a Q4_K_M file, of random blocks."""
    random = np.random.default_rng(seed)
    for tensor in tiny.tensors(config):
        if len(tensor.shape) == 1:
            part = tensor.name.removesuffix(".weight").split(".")[-1]
            around = random.normal(_NORMS.get(part, 1.0), 0.05, tensor.shape)
            yield tiny.Part(tensor.name, around.astype(np.float32), Type.F32)
            continue
        kind = matrix_type(tensor.name, config["num_hidden_layers"])
        draw = q4_k if kind is Type.Q4_K else q6_k
        yield tiny.Part(tensor.name, draw(random, *tensor.shape), kind)


def weights(part: tiny.Part) -> Floats:
    """Return a tensor's numbers."""
    found: Floats = gguf.quants.dequantize(part.data, part.type)
    return found


def requantized(part: tiny.Part, kind: Type) -> tiny.Part:
    """Return a tensor of the same numbers, matrices in another type, as near as that comes."""
    if part.data.ndim == 1:
        return part
    return tiny.Part(part.name, gguf.quants.quantize(weights(part), kind), kind)


def error(part: tiny.Part, other: tiny.Part) -> float:
    """Return how far a tensor is from another: its mean square error, of the spread."""
    ours, theirs = weights(part), weights(other)
    return float(np.sqrt(np.mean((ours - theirs) ** 2)) / np.std(theirs))


def write(folder: Path, kind: str, seed: int = 0) -> Path:
    """Write a model's folder and the GGUF file beside; returns the file.

    Args:
        folder: Is made where it is missing.
        kind: ``Q4_K_M``, or the type into which all of its matrices are put.
        seed: Of the random blocks.
    """
    config = _write_folder(folder)
    parts = mixture(config, seed)
    if kind != "Q4_K_M":
        parts = (requantized(part, Type[kind]) for part in parts)
    path = folder / f"tiny-gemma4-{kind}.gguf"
    tiny.save(path, config, parts)
    return path


def write_reference(folder: Path, kind: str = "Q4_K_M", seed: int = 0) -> Path:
    """Write the same weights, dequantized, as transformers' checkpoint in BF16; returns its folder.

    vLLM loads it by itself, without plugin. The file's format is safetensors: the length of a
    header, the header in JSON, the numbers.
    """
    config = _write_folder(folder)
    others = names(config["num_hidden_layers"])
    header, data = {}, bytearray()
    for part in mixture(config, seed):
        if kind != "Q4_K_M":
            part = requantized(part, Type[kind])  # noqa: PLW2901
        numbers = gguf.quants.quantize(weights(part), Type.BF16).tobytes()
        header[others[part.name]] = {
            "dtype": "BF16",
            "shape": list(weights(part).shape),
            "data_offsets": [len(data), len(data) + len(numbers)],
        }
        data += numbers
    text = json.dumps(header).encode()
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return folder


def _write_folder(folder: Path) -> dict[str, Any]:
    model.write(folder)
    config = configuration()
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    return config
