"""From a model's ``config.json`` to what decides its memory: layers that keep a cache, parameters.

The names in ``config.json`` are those of transformers. Only decoder models whose layers attend in
full or in a sliding window are read; others are refused, because a wrong budget is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

LayerKind = Literal["full", "sliding"]

FULL: Final = "full"
SLIDING: Final = "sliding"


class ArchitectureError(ValueError):
    """A ``config.json`` cannot be used; the message is one line that says why."""


@dataclass(frozen=True)
class CacheLayer:
    """One layer that keeps keys and values.

    Attributes:
        kind: Whether it attends to all tokens or to a window of them.
        kv_heads: Heads of keys, and as many of values.
        head_size: Numbers per head.
        window: Tokens that a sliding layer looks back over; 0 for a full one.
    """

    kind: LayerKind
    kv_heads: int
    head_size: int
    window: int = 0

    @property
    def numbers_per_token(self) -> int:
        """Numbers kept per token: keys and values of all heads."""
        return 2 * self.kv_heads * self.head_size


@dataclass(frozen=True)
class Parameters:
    """Numbers of weights, apart where weight formats treat them apart.

    Attributes:
        plain: Matrices, biases and norms that are none of the following.
        values: Projections to values; llama.cpp's mixed formats keep them finer.
        downs: Second matrices of the feed-forward blocks; likewise.
        embedding: Token embeddings, and the output matrix where it is one of its own.
        vision: The vision tower; never quantized in the usual formats.
        repeated: Value projections that the checkpoint leaves out because they equal those of the
            keys, and that vLLM fills all the same.
    """

    plain: int
    values: int
    downs: int
    embedding: int
    vision: int = 0
    repeated: int = 0

    @property
    def total(self) -> int:
        """Weights of the text model as the checkpoint has them."""
        return self.plain + self.values + self.downs + self.embedding


@dataclass(frozen=True)
class Architecture:
    """What decides a model's memory.

    Attributes:
        name: Of the model, for people.
        layers: Those that keep a cache of their own, in order.
        sharing: Number of layers that read another layer's cache instead.
        parameters: Weights.
        hidden_size: Numbers per token between layers.
        max_tokens: Longest context that the model was made for; None where it is not told.
    """

    name: str
    layers: tuple[CacheLayer, ...]
    sharing: int
    parameters: Parameters
    hidden_size: int
    max_tokens: int | None


def read(config: Mapping[str, Any], name: str = "") -> Architecture:
    """Return the architecture that a ``config.json`` describes.

    Args:
        config: The file's content; of a multimodal model the text part is taken, and the vision
            tower is counted among the weights.
        name: What to call the model; default is the architecture's class.

    Raises:
        ArchitectureError: A needed key is missing, or the layers are of a kind that is not known.
    """
    text = config.get("text_config") or config
    if not isinstance(text, Mapping):
        raise ArchitectureError("text_config must be an object")
    _refuse_unknown(text)
    kinds = _layer_kinds(text)
    layers = tuple(_cache_layer(text, kind) for kind in kinds)
    sharing = int(text.get("num_kv_shared_layers") or 0)
    if not 0 <= sharing < len(layers):
        raise ArchitectureError(f"num_kv_shared_layers is {sharing} of {len(layers)} layers")
    classes = config.get("architectures") or ["model"]
    return Architecture(
        name=name or str(classes[0]),
        layers=layers[: len(layers) - sharing],
        sharing=sharing,
        parameters=_parameters(text, layers, sharing, config.get("vision_config")),
        hidden_size=_number(text, "hidden_size"),
        max_tokens=text.get("max_position_embeddings"),
    )


def _number(text: Mapping[str, Any], key: str) -> int:
    value = text.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ArchitectureError(f"{key} must be a whole number above 0, not {value!r}")
    return value


def _refuse_unknown(text: Mapping[str, Any]) -> None:
    if text.get("kv_lora_rank"):
        raise ArchitectureError(
            "the model keeps latent vectors instead of keys and values (kv_lora_rank), which this "
            "budget does not compute"
        )
    known = {"full_attention", "sliding_attention"}
    unknown = sorted(set(text.get("layer_types") or ()) - known)
    if unknown:
        raise ArchitectureError(
            f"layers of the kind {', '.join(unknown)} keep no keys and values per token, and this "
            "budget does not compute them"
        )


def _layer_kinds(text: Mapping[str, Any]) -> list[LayerKind]:
    count = _number(text, "num_hidden_layers")
    named = text.get("layer_types")
    if named:
        if len(named) != count:
            raise ArchitectureError(f"layer_types names {len(named)} layers of {count}")
        return [SLIDING if kind == "sliding_attention" else FULL for kind in named]
    window = text.get("sliding_window")
    if not window or text.get("use_sliding_window") is False:
        return [FULL] * count
    # Gemma 2 and 3 say that every n-th layer attends in full; without it, all of them slide.
    pattern = text.get("sliding_window_pattern")
    return [FULL if pattern and (i + 1) % int(pattern) == 0 else SLIDING for i in range(count)]


def _cache_layer(text: Mapping[str, Any], kind: LayerKind) -> CacheLayer:
    query_heads = _number(text, "num_attention_heads")
    heads = int(text.get("num_key_value_heads") or query_heads)
    size = int(text.get("head_dim") or _number(text, "hidden_size") // query_heads)
    if kind == SLIDING:
        return CacheLayer(SLIDING, heads, size, _number(text, "sliding_window"))
    # Gemma 4: layers of full attention have larger and fewer heads. The number of heads differs
    # only where keys serve as values too, as in transformers.
    size = int(text.get("global_head_dim") or size)
    if text.get("attention_k_eq_v") and text.get("num_global_key_value_heads"):
        heads = _number(text, "num_global_key_value_heads")
    return CacheLayer(FULL, heads, size)


def _parameters(
    text: Mapping[str, Any],
    layers: tuple[CacheLayer, ...],
    sharing: int,
    vision: Mapping[str, Any] | None,
) -> Parameters:
    hidden = _number(text, "hidden_size")
    query_heads = _number(text, "num_attention_heads")
    plain = values = downs = repeated = 0
    for index, layer in enumerate(layers):
        plain += 2 * hidden * query_heads * layer.head_size  # queries and the way back
        kv = hidden * layer.kv_heads * layer.head_size
        shared = index >= len(layers) - sharing
        if not shared:
            plain += kv
            if layer.kind == FULL and text.get("attention_k_eq_v"):
                repeated += kv
            else:
                values += kv
        down = _down_parameters(text, hidden, shared=shared)
        plain += 2 * down  # gate and up
        downs += down
        plain += hidden * int(text.get("num_experts") or text.get("num_local_experts") or 0)
        plain += 2 * hidden * int(text.get("hidden_size_per_layer_input") or 0)
    matrices = 1 if text.get("tie_word_embeddings", True) else 2
    embedding = matrices * _number(text, "vocab_size") * hidden
    if per_layer := int(text.get("hidden_size_per_layer_input") or 0):
        entries = int(text.get("vocab_size_per_layer_input") or _number(text, "vocab_size"))
        embedding += entries * len(layers) * per_layer
        plain += hidden * len(layers) * per_layer
    return Parameters(plain, values, downs, embedding, _vision_parameters(vision), repeated)


def _down_parameters(text: Mapping[str, Any], hidden: int, *, shared: bool) -> int:
    """Return one layer's second feed-forward matrices, of all experts."""
    experts = int(text.get("num_experts") or text.get("num_local_experts") or 0)
    width = _number(text, "intermediate_size")
    if text.get("use_double_wide_mlp") and shared:
        width *= 2
    if not experts:
        return hidden * width
    expert = experts * hidden * int(text.get("moe_intermediate_size") or width)
    # Gemma 4 has the plain block beside the experts; the others have experts in its place.
    return expert + (hidden * width if text.get("enable_moe_block") else 0)


def _vision_parameters(vision: Mapping[str, Any] | None) -> int:
    """Return a tower's weights, near enough: attention and a gated block per layer."""
    if not vision or not vision.get("hidden_size"):
        return 0
    size = int(vision["hidden_size"])
    layer = 4 * size * size + 3 * size * int(vision.get("intermediate_size") or 4 * size)
    return int(vision.get("num_hidden_layers") or 0) * layer
