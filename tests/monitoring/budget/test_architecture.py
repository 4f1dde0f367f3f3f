import pytest

from monitoring.budget import models
from monitoring.budget.architecture import FULL, SLIDING, ArchitectureError, read
from monitoring.budget.memory import splits

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
}


@pytest.mark.parametrize(
    "key", [key for key, entry in models.table().items() if "parameters" in entry]
)
def test_computed_parameters_are_those_that_the_publisher_counts(key: str) -> None:
    published = models.table()[key]["parameters"]["billions"]
    computed = models.find(key).parameters.total / 1e9
    assert computed == pytest.approx(published, rel=0.002, abs=0.05)


def test_every_bundled_figure_has_its_source() -> None:
    for entry in models.table().values():
        assert entry["source"].startswith("https://")
        assert entry.get("parameters", {"source": "none"})["source"]


def test_layers_of_gemma_4_31b() -> None:
    layers = models.find("gemma-4-31b").layers
    assert [layer.kind for layer in layers[:6]] == [SLIDING] * 5 + [FULL]
    sliding, full = layers[0], layers[5]
    assert (sliding.kv_heads, sliding.head_size, sliding.window) == (16, 256, 1024)
    assert (full.kv_heads, full.head_size) == (4, 512)


def test_layers_that_share_a_cache_keep_none() -> None:
    model = models.find("gemma-4-e4b")
    assert (len(model.layers), model.sharing) == (24, 18)


def test_window_and_pattern_of_gemma_3() -> None:
    layers = read(LLAMA | {"sliding_window": 1024, "sliding_window_pattern": 6}).layers
    assert [layer.kind for layer in layers].count(FULL) == 5


def test_a_window_that_is_switched_off_does_not_count() -> None:
    layers = read(LLAMA | {"sliding_window": 4096, "use_sliding_window": False}).layers
    assert {layer.kind for layer in layers} == {FULL}


def test_head_size_follows_from_hidden_size() -> None:
    assert read(LLAMA).layers[0].head_size == 128


def test_head_dim_wins_over_hidden_size() -> None:
    assert read(LLAMA | {"head_dim": 256}).layers[0].head_size == 256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_hidden_layers": None}, "num_hidden_layers must be a whole number"),
        ({"hidden_size": "4096"}, "hidden_size must be a whole number"),
        ({"kv_lora_rank": 512}, "latent vectors"),
        ({"layer_types": ["linear_attention"] * 32}, "linear_attention"),
        ({"layer_types": ["full_attention"]}, "names 1 layers of 32"),
        ({"num_kv_shared_layers": 32}, "32 of 32"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is above 10000"),
        ({"num_attention_heads": 10**6, "head_dim": None}, "more than hidden_size"),
        ({"vision_config": {"hidden_size": "x"}}, "vision_config.hidden_size must be a whole"),
        ({"text_config": {"hidden_size": 1}}, "text_config.num_hidden_layers must be a whole"),
        ({"layer_types": [None] * 32}, "layer_types must be a list of texts, not a list"),
    ],
)
def test_what_cannot_be_computed_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ArchitectureError, match=message):
        read(LLAMA | change)


@pytest.mark.parametrize(
    "value", [-1, 0.5, 1e400, 10**400, "x", [1], {"a": 1}], ids=lambda value: str(value)[:8]
)
@pytest.mark.parametrize(
    "key",
    [
        *("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads"),
        *("head_dim", "global_head_dim", "num_kv_shared_layers", "max_position_embeddings"),
        *("sliding_window", "use_sliding_window", "layer_types", "attention_k_eq_v"),
        *("num_experts", "vocab_size", "intermediate_size", "hidden_size_per_layer_input"),
        *("tie_word_embeddings", "architectures", "vision_config", "text_config"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_key(key: str, value: object) -> None:
    if key in ("text_config", "vision_config") and isinstance(value, dict):
        value = {"hidden_size": value}
    with pytest.raises(ArchitectureError, match=key):
        read(LLAMA | {"sliding_window": 1024, "sliding_window_pattern": 6, key: value})


@pytest.mark.parametrize(
    ("name", "possible"), [("llama-3.1-8b", [1, 2, 4, 8, 16, 32]), ("gemma-4-e4b", [1, 2, 4, 8])]
)
def test_heads_are_dealt_out_evenly(name: str, possible: list[int]) -> None:
    assert splits(models.find(name)) == possible
