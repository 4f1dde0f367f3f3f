"""A tiny model as a GGUF file, made on the spot of random weights.

GGUF is llama.cpp's format: one file with metadata and tensors, named after llama.cpp's own
conventions. vLLM loads it with the plugin ``vllm-gguf-plugin``, and takes configuration and
tokenizer from a folder in transformers' format. So this writes the file into a folder that
`monitoring.vllm.model` has filled.

Needs the package ``gguf`` (extra ``gguf``). Run it by any Python that has it::

    python -m monitoring.gguf.tiny FOLDER --type BF16
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from monitoring.vllm import model

ARCHITECTURE = "gemma4"

TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0")
"""Types of matrices that the package ``gguf`` can write; Q4_K it only reads."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """One tensor of the file: its name, and its shape with rows first."""

    name: str
    shape: Shape


@dataclass(frozen=True)
class Part:
    """One tensor with its numbers, as they lie in the file.

    Attributes:
        name: llama.cpp's name.
        data: Rows first; of a quantized type the bytes of each row's blocks.
        type: GGUF's type.
    """

    name: str
    data: npt.NDArray[Any]
    type: gguf.GGMLQuantizationType


def tensors(config: dict[str, Any]) -> Iterator[Tensor]:
    """Yield the tensors of a Gemma 4 text model by llama.cpp's names."""
    hidden, width = config["hidden_size"], config["intermediate_size"]
    yield Tensor("token_embd.weight", (config["vocab_size"], hidden))
    yield Tensor("output_norm.weight", (hidden,))
    for index, kind in enumerate(config["layer_types"]):
        full = kind == "full_attention"
        size = config["global_head_dim" if full else "head_dim"]
        queries = config["num_attention_heads"] * size
        # Gemma 4 31B: in layers of full attention keys serve as values too, with heads of their own
        # number, and the file has no projection to values there.
        shared = full and bool(config.get("attention_k_eq_v"))
        heads = config["num_global_key_value_heads" if shared else "num_key_value_heads"]
        keys = heads * size
        shapes: dict[str, Shape] = {
            "attn_norm": (hidden,),
            "attn_q": (queries, hidden),
            "attn_k": (keys, hidden),
            "attn_v": (keys, hidden),
            "attn_output": (hidden, queries),
            "attn_q_norm": (size,),
            "attn_k_norm": (size,),
            "post_attention_norm": (hidden,),
            "ffn_norm": (hidden,),
            "ffn_gate": (width, hidden),
            "ffn_up": (width, hidden),
            "ffn_down": (hidden, width),
            "post_ffw_norm": (hidden,),
            "layer_output_scale": (1,),
        }
        if shared:
            del shapes["attn_v"]
        for name, shape in shapes.items():
            yield Tensor(f"blk.{index}.{name}.weight", shape)


def write(folder: Path, type_name: str, config: dict[str, Any] | None = None) -> Path:
    """Write the model's configuration, tokenizer and GGUF file into ``folder``.

    Args:
        folder: Is made where it is missing.
        type_name: Type of the matrices, one of `TYPES`; norms are F32 always.
        config: Another ``config.json`` than that of the kit's tiny model.

    Returns:
        The GGUF file.

    Raises:
        OSError: The folder cannot be written.
    """
    model.write(folder)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    config = config or model.configuration()
    path = folder / f"tiny-gemma4-{type_name}.gguf"
    random = np.random.default_rng(0)
    wanted = gguf.GGMLQuantizationType[type_name]
    save(path, config, (_part(random, tensor, wanted) for tensor in tensors(config)))
    return path


def save(path: Path, config: dict[str, Any], parts: Iterable[Part]) -> None:
    """Write a GGUF file of the given tensors, with the metadata of a configuration.

    Raises:
        OSError: The file cannot be written.
    """
    writer = gguf.GGUFWriter(path, ARCHITECTURE)
    _write_metadata(writer, config)
    for part in parts:
        writer.add_tensor(part.name, part.data, raw_dtype=part.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _part(random: np.random.Generator, tensor: Tensor, wanted: gguf.GGMLQuantizationType) -> Part:
    kind = wanted if len(tensor.shape) > 1 else gguf.GGMLQuantizationType.F32
    return Part(tensor.name, gguf.quants.quantize(_values(random, tensor), kind), kind)


def _values(random: np.random.Generator, tensor: Tensor) -> npt.NDArray[np.float32]:
    if len(tensor.shape) == 1:
        return np.ones(tensor.shape, dtype=np.float32)
    return (0.05 * random.standard_normal(tensor.shape)).astype(np.float32)


def _write_metadata(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_name("tiny Gemma 4 of random weights")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["global_head_dim"])
    writer.add_value_length(config["global_head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_sliding_window(config["sliding_window"])
    # The plugin takes the size of the vocabulary from here.
    tokens = list(model.vocabulary()[0])
    unused = range(len(tokens), config["vocab_size"])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([*tokens, *(f"<unused{index}>" for index in unused)])


def main() -> None:
    """Write a file and print its path."""
    parser = argparse.ArgumentParser(description="Write a tiny Gemma 4 as GGUF.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--type", choices=TYPES, default="BF16")
    arguments = parser.parse_args()
    print(write(arguments.folder, arguments.type))


if __name__ == "__main__":
    main()
