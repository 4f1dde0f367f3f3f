"""From a model's ``config.json`` to what decides its memory: layers that keep a cache, parameters.

The names in ``config.json`` are those of transformers. Only decoder models whose layers attend in
full or in a sliding window are read; others are refused, because a wrong budget is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from monitoring.budget.fields import MOST_LAYERS, ArchitectureError, Fields

__all__ = ["FULL", "SLIDING", "Architecture", "ArchitectureError", "CacheLayer", "Parameters"]

LayerKind = Literal["full", "sliding"]

FULL: Final = "full"
SLIDING: Final = "sliding"


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
        query_heads: Heads of queries, which several GPUs share evenly.
        max_tokens: Longest context that the model was made for; None where it is not told.
    """

    name: str
    layers: tuple[CacheLayer, ...]
    sharing: int
    parameters: Parameters
    hidden_size: int
    query_heads: int
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
    whole = Fields(config)
    text = whole.part("text_config") or whole
    _refuse_unknown(text)
    kinds = _layer_kinds(text)
    layers = tuple(_cache_layer(text, kind) for kind in kinds)
    sharing = text.whole_or("num_kv_shared_layers", 0)
    if sharing >= len(layers):
        raise ArchitectureError(f"num_kv_shared_layers is {sharing} of {len(layers)} layers")
    classes = whole.texts("architectures") or ["model"]
    return Architecture(
        name=name or classes[0],
        layers=layers[: len(layers) - sharing],
        sharing=sharing,
        parameters=_parameters(text, layers, sharing, whole.part("vision_config")),
        hidden_size=text.whole("hidden_size"),
        query_heads=text.whole("num_attention_heads"),
        max_tokens=text.whole_or("max_position_embeddings", 0) or None,
    )


def _refuse_unknown(text: Fields) -> None:
    if text.has("kv_lora_rank"):
        raise ArchitectureError(
            "the model keeps latent vectors instead of keys and values (kv_lora_rank), which this "
            "budget does not compute"
        )
    known = {"full_attention", "sliding_attention"}
    unknown = sorted(set(text.texts("layer_types")) - known)
    if unknown:
        raise ArchitectureError(
            f"layers of the kind {', '.join(kind[:40] for kind in unknown[:5])} keep no keys and "
            "values per token, and this budget does not compute them"
        )


def _layer_kinds(text: Fields) -> list[LayerKind]:
    count = text.whole("num_hidden_layers", MOST_LAYERS)
    named = text.texts("layer_types")
    if named:
        if len(named) != count:
            raise ArchitectureError(f"layer_types names {len(named)} layers of {count}")
        return [SLIDING if kind == "sliding_attention" else FULL for kind in named]
    if not text.whole_or("sliding_window", 0) or not text.flag("use_sliding_window", default=True):
        return [FULL] * count
    # Gemma 2 and 3 say that every n-th layer attends in full; without it, all of them slide.
    pattern = text.whole_or("sliding_window_pattern", 0)
    return [FULL if pattern and (i + 1) % pattern == 0 else SLIDING for i in range(count)]


def _cache_layer(text: Fields, kind: LayerKind) -> CacheLayer:
    query_heads = text.whole("num_attention_heads")
    heads = text.whole_or("num_key_value_heads", query_heads)
    size = text.whole_or("head_dim", 0) or text.whole("hidden_size") // query_heads
    if not size:
        raise ArchitectureError("num_attention_heads is more than hidden_size, and no head_dim")
    if kind == SLIDING:
        return CacheLayer(SLIDING, heads, size, text.whole("sliding_window"))
    # Gemma 4: layers of full attention have larger and fewer heads. The number of heads differs
    # only where keys serve as values too, as in transformers.
    size = text.whole_or("global_head_dim", size)
    if text.flag("attention_k_eq_v"):
        heads = text.whole_or("num_global_key_value_heads", heads)
    return CacheLayer(FULL, heads, size)


def _parameters(
    text: Fields, layers: tuple[CacheLayer, ...], sharing: int, vision: Fields | None
) -> Parameters:
    hidden = text.whole("hidden_size")
    query_heads = text.whole("num_attention_heads")
    experts = text.whole_or("num_experts", 0) or text.whole_or("num_local_experts", 0)
    per_layer = text.whole_or("hidden_size_per_layer_input", 0)
    plain = values = downs = repeated = 0
    for index, layer in enumerate(layers):
        plain += 2 * hidden * query_heads * layer.head_size  # queries and the way back
        kv = hidden * layer.kv_heads * layer.head_size
        shared = index >= len(layers) - sharing
        if not shared:
            plain += kv
            if layer.kind == FULL and text.flag("attention_k_eq_v"):
                repeated += kv
            else:
                values += kv
        down = _down_parameters(text, hidden, experts, shared=shared)
        plain += 2 * down  # gate and up
        downs += down
        plain += hidden * experts
        plain += 2 * hidden * per_layer
    matrices = 1 if text.flag("tie_word_embeddings", default=True) else 2
    embedding = matrices * text.whole("vocab_size") * hidden
    if per_layer:
        entries = text.whole_or("vocab_size_per_layer_input", text.whole("vocab_size"))
        embedding += entries * len(layers) * per_layer
        plain += hidden * len(layers) * per_layer
    return Parameters(plain, values, downs, embedding, _vision_parameters(vision), repeated)


def _down_parameters(text: Fields, hidden: int, experts: int, *, shared: bool) -> int:
    """Return one layer's second feed-forward matrices, of all experts."""
    width = text.whole("intermediate_size")
    if text.flag("use_double_wide_mlp") and shared:
        width *= 2
    if not experts:
        return hidden * width
    expert = experts * hidden * text.whole_or("moe_intermediate_size", width)
    # Gemma 4 has the plain block beside the experts; the others have experts in its place.
    return expert + (hidden * width if text.flag("enable_moe_block") else 0)


def _vision_parameters(vision: Fields | None) -> int:
    """Return a tower's weights, near enough: attention and a gated block per layer."""
    size = vision.whole_or("hidden_size", 0) if vision else 0
    if not vision or not size:
        return 0
    layer = 4 * size * size + 3 * size * vision.whole_or("intermediate_size", 4 * size)
    return vision.whole_or("num_hidden_layers", 0) * layer
