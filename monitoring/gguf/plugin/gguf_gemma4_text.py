"""Tells vllm-gguf-plugin 0.0.5 the names of Gemma 4's tensors, for models of text only.

Its general adapter finds names by ``model_type``, and the text model's, ``gemma4_text``, is none of
llama.cpp's; and it has no name for the scale of each layer's output. Later versions of the plugin
know Gemma 4 themselves; then this is not needed.
"""

from __future__ import annotations

from typing import Any

MODEL_TYPE = "gemma4_text"

LAYER_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}
"""Parts of a layer: llama.cpp's names, and those of transformers."""


def names(layers: int) -> dict[str, str]:
    """Return the transformers' names of all tensors by those of llama.cpp."""
    found = {
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
    }
    for index in range(layers):
        for part, other in LAYER_PARTS.items():
            found[f"blk.{index}.{part}.weight"] = f"model.layers.{index}.{other}.weight"
        # A number and no matrix, so transformers leave out the last word.
        found[f"blk.{index}.layer_output_scale.weight"] = f"model.layers.{index}.layer_scalar"
    return found


def repeated_values(modules: list[str]) -> list[str]:
    """Return the projections to values that the file lacks because keys serve as values.

    vLLM fills them from the keys and joins both in one layer, so where the keys are not quantized,
    it must know that the values are not either.

    Args:
        modules: Those that are not quantized in the file.
    """
    values = [each.removesuffix("k_proj") + "v_proj" for each in modules if each.endswith("k_proj")]
    return [each for each in values if each not in modules]


def register() -> None:
    """Add the adapter to those of the plugin; vLLM calls this in each of its processes."""
    # Only vLLM's own environment has these.
    from vllm_gguf_plugin import weights_adapter  # type: ignore[import-not-found]  # noqa: PLC0415
    from vllm_gguf_plugin.weights_adapter.default import (  # type: ignore[import-not-found]  # noqa: PLC0415
        GGUFWeightsAdapter,
    )

    class Gemma4TextAdapter(GGUFWeightsAdapter):  # type: ignore[misc]
        """Gemma 4, text only, without experts and without embeddings per layer."""

        @classmethod
        def matches(cls, config: Any) -> bool:
            """Tell whether this is the adapter for a model."""
            return bool(config.model_type == MODEL_TYPE)

        def build_name_map(self, model_config: Any) -> dict[str, str]:
            """Return the names of a model's tensors."""
            return names(int(model_config.hf_config.num_hidden_layers))

        def prepare_loading(self, model_path: str, model_config: Any) -> Any:
            """Return what to load, the repeated values included."""
            spec = super().prepare_loading(model_path, model_config)
            spec.unquantized_modules.extend(repeated_values(spec.unquantized_modules))
            return spec

    known = weights_adapter._ADAPTER_REGISTRY
    if not any(each.__name__ == Gemma4TextAdapter.__name__ for each in known):
        known.insert(0, Gemma4TextAdapter)
