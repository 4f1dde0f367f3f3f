"""A Llama-shaped model of the 6B class: a configuration and a tokenizer, no weights.

With ``--load-format dummy`` vLLM fills 10.6 GiB with random numbers; its cache takes 128 KiB a
token. The tokenizer is the tiny model's, so nothing is downloaded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from monitoring.vllm import model

MAX_MODEL_LENGTH_TOKENS = 8192


def configuration() -> dict[str, Any]:
    """Return ``config.json``; the names are those of transformers."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
        "vocab_size": len(model.vocabulary()[0]),
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": MAX_MODEL_LENGTH_TOKENS,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "pad_token_id": model.SPECIAL_TOKENS.index("<pad>"),
        "eos_token_id": model.SPECIAL_TOKENS.index("<eos>"),
        "bos_token_id": model.SPECIAL_TOKENS.index("<bos>"),
    }


def write(folder: Path) -> Path:
    """Write the model's files into a folder; returns it, for ``--model``."""
    model.write(folder)
    tokenizer = folder / "tokenizer_config.json"
    settings = json.loads(tokenizer.read_text(encoding="utf-8"))
    settings["model_max_length"] = MAX_MODEL_LENGTH_TOKENS
    tokenizer.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    text = json.dumps(configuration(), indent=1) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
