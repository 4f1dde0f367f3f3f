from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import gguf
import pytest

from monitoring.gguf import tiny
from monitoring.vllm import model

PLUGIN = Path(tiny.__file__).parent / "plugin" / "gguf_gemma4_text.py"


def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gguf_gemma4_text", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("type_name", tiny.TYPES)
def test_a_file_holds_what_its_configuration_says(tmp_path: Path, type_name: str) -> None:
    path = tiny.write(tmp_path, type_name)
    reader = gguf.GGUFReader(path)
    field = reader.get_field("general.architecture")
    assert field is not None
    assert field.contents() == "gemma4"
    found = {tensor.name: tensor for tensor in reader.tensors}
    config = model.configuration()
    # GGUF counts a matrix's columns first.
    assert list(found["token_embd.weight"].shape) == [config["hidden_size"], config["vocab_size"]]
    assert list(found["blk.1.attn_q.weight"].shape) == [config["hidden_size"], 2 * 512]
    assert found["blk.0.attn_q.weight"].tensor_type.name == type_name
    assert found["blk.0.attn_norm.weight"].tensor_type.name == "F32"
    assert (tmp_path / "config.json").is_file()
    assert (tmp_path / "tokenizer.json").is_file()


def test_names_are_those_of_llama_cpp() -> None:
    layers = model.configuration()["num_hidden_layers"]
    known = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GEMMA4, layers)
    for ours, theirs in plugin().names(layers).items():
        assert f"{known.get_name(theirs.removesuffix('.weight'))}.weight" == ours


def test_every_tensor_of_the_file_has_a_name(tmp_path: Path) -> None:
    names = plugin().names(model.configuration()["num_hidden_layers"])
    reader = gguf.GGUFReader(tiny.write(tmp_path, "BF16"))
    assert {tensor.name for tensor in reader.tensors} == set(names)


def test_layers_whose_keys_serve_as_values_have_no_projection_to_values() -> None:
    config = model.configuration() | {"attention_k_eq_v": True, "num_global_key_value_heads": 2}
    shapes = {tensor.name: tensor.shape for tensor in tiny.tensors(config)}
    assert "blk.0.attn_v.weight" in shapes  # sliding
    assert "blk.1.attn_v.weight" not in shapes
    assert shapes["blk.1.attn_k.weight"] == (2 * 512, config["hidden_size"])


def test_values_that_repeat_keys_are_as_little_quantized_as_those() -> None:
    modules = ["l.0.k_proj", "l.0.v_proj", "l.1.k_proj", "l.1.q_proj"]
    assert plugin().repeated_values(modules) == ["l.1.v_proj"]


def test_a_file_of_smaller_numbers_is_smaller(tmp_path: Path) -> None:
    sizes = [tiny.write(tmp_path, name).stat().st_size for name in ("BF16", "Q8_0", "Q4_0")]
    assert sizes == sorted(sizes, reverse=True)
