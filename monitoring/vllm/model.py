"""A tiny Gemma 4 that is made on the spot: a configuration and a tokenizer, no weights.

vLLM fills the weights with random numbers (``--load-format dummy``), so nothing is
downloaded and nothing sensible is answered. What counts is kept as in the real model: layers
of sliding and of full attention, with heads of 256 and of 512 numbers. They decide in which
steps the prefix cache can find tokens, and that is what the kit watches.

All files are plain JSON, so writing them needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

SLIDING_HEAD_SIZE = 256
"""Numbers per head in sliding layers, as in Gemma 4."""

FULL_HEAD_SIZE = 512
"""Numbers per head in full-attention layers, as in Gemma 4."""

SLIDING_WINDOW_TOKENS = 1024
"""How far back a sliding layer looks, as in Gemma 4 31B."""

MAX_MODEL_LENGTH_TOKENS = 4096
"""Prompt and answer together; the same limit as for the real model."""

SPECIAL_TOKENS = ("<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<turn|>")
"""Their positions are their ids."""

# One frequent word gives one token; all else falls back to shorter pieces, in the end bytes.
FREQUENT_WORDS = (
    "the of and to in is that for it as with was on be by at this have from or one had not but "
    "what all were when we there can an your which their said if do will each about how up out "
    "them then she many some so these would other into has more her two like him see time could "
    "no make than first been its who now people my made over did down only way find use may "
    "water long little very after words called just where most know get through back much before "
    "go good new write our used me man too any day same right look think also around another "
    "came come work three word must because does part even place well such here take why help "
    "put different away again off went old number great tell men say small every found still "
    "between name should home big give air line set own under read last never us left end along "
    "while might next sound below saw something thought both few those always show large often "
    "together asked house world going want school important until form food keep children feet "
    "land side without boy once animal life enough took four head above kind began almost live "
    "page got earth need far hand high year mother light country father let night picture being "
    "study second soon story since white ever paper hard near sentence better best across during "
    "today however sure knew try told young sun thing whole hear example heard several change "
    "answer room sea against top turned learn point city play toward five using himself usually "
    "money seen car morning long given document context question request system user model token "
    "cache prefix server memory prompt shared metric value"
)

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "<|turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] | trim }}"
    "{% else %}{% for part in message['content'] %}{{ part['text'] | trim }}{% endfor %}{% endif %}"
    "<turn|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)


def configuration() -> dict[str, Any]:
    """Return ``config.json`` of the tiny model (the names are those of transformers)."""
    return {
        "architectures": ["Gemma4ForCausalLM"],
        "model_type": "gemma4_text",
        "dtype": "bfloat16",
        "vocab_size": len(vocabulary()[0]),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"],
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": SLIDING_HEAD_SIZE,
        "global_head_dim": FULL_HEAD_SIZE,
        "sliding_window": SLIDING_WINDOW_TOKENS,
        "max_position_embeddings": MAX_MODEL_LENGTH_TOKENS,
        "hidden_activation": "gelu_pytorch_tanh",
        "rms_norm_eps": 1e-6,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {
                "rope_type": "proportional",
                "partial_rotary_factor": 0.25,
                "rope_theta": 1_000_000.0,
            },
        },
        "final_logit_softcapping": 30.0,
        # The embeddings per layer belong to the small models of the family only.
        "hidden_size_per_layer_input": 0,
        "tie_word_embeddings": True,
        "pad_token_id": SPECIAL_TOKENS.index("<pad>"),
        "eos_token_id": SPECIAL_TOKENS.index("<eos>"),
        "bos_token_id": SPECIAL_TOKENS.index("<bos>"),
    }


def byte_characters() -> list[str]:
    """Return the 256 characters by which byte-level tokenizers write the bytes 0 to 255.

    Printable Latin-1 bytes stand for themselves, the others for the characters from U+0100
    on, in order. This is the table of GPT-2, which ``ByteLevel`` of tokenizers uses too.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (chr(code) for code in range(0x100, 0x200))
    return [chr(byte) if byte in printable else next(others) for byte in range(256)]


def vocabulary() -> tuple[dict[str, int], list[list[str]]]:
    """Return the tokens with their ids, and the merges of the byte-pair encoding.

    A merge joins two tokens into one; earlier merges win. Each frequent word, with the space
    before it, is built up letter by letter.
    """
    tokens = dict.fromkeys([*SPECIAL_TOKENS, *byte_characters()])
    space = byte_characters()[ord(" ")]
    merges: dict[tuple[str, str], None] = {}
    for word in FREQUENT_WORDS.split():
        piece = space
        for letter in word:
            merges[(piece, letter)] = None
            piece += letter
            tokens[piece] = None
    return {token: index for index, token in enumerate(tokens)}, [list(pair) for pair in merges]


def tokenizer() -> dict[str, Any]:
    """Return ``tokenizer.json``: a byte-level BPE in the format of the tokenizers library."""
    tokens, merges = vocabulary()
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": tokens[token],
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token in SPECIAL_TOKENS
        ],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": {**byte_level, "use_regex": True},
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": tokens,
            "merges": merges,
        },
    }


def tokenizer_configuration() -> dict[str, Any]:
    """Return ``tokenizer_config.json``, with a chat template in the manner of Gemma 4."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": MAX_MODEL_LENGTH_TOKENS,
        "pad_token": "<pad>",
        "eos_token": "<eos>",
        "bos_token": "<bos>",
        "unk_token": "<unk>",
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }


def write(folder: Path) -> Path:
    """Write the model's files into a folder, which is made where it is missing.

    Returns:
        The folder, for ``--model``.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "config.json": configuration(),
        "generation_config.json": {"eos_token_id": SPECIAL_TOKENS.index("<eos>")},
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": tokenizer_configuration(),
    }
    for name, content in files.items():
        _write_whole(folder / name, json.dumps(content, indent=1) + "\n")
    return folder


def _write_whole(path: Path, text: str) -> None:
    """Write through a rename, so that a server that starts meanwhile reads no half file."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)
