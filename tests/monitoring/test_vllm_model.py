from __future__ import annotations

import json
from pathlib import Path

from monitoring.vllm import model


def test_both_kinds_of_attention_with_the_real_heads() -> None:
    configuration = model.configuration()
    assert configuration["architectures"] == ["Gemma4ForCausalLM"]
    assert set(configuration["layer_types"]) == {"sliding_attention", "full_attention"}
    assert len(configuration["layer_types"]) == configuration["num_hidden_layers"]
    # transformers makes the last layer a full one whatever the configuration says.
    assert configuration["layer_types"][-1] == "full_attention"
    assert (configuration["head_dim"], configuration["global_head_dim"]) == (256, 512)
    assert configuration["sliding_window"] == 1024


def test_every_token_has_one_id_without_gaps() -> None:
    tokens, _ = model.vocabulary()
    assert list(tokens.values()) == list(range(len(tokens)))
    assert model.configuration()["vocab_size"] == len(tokens)
    for index, token in enumerate(model.SPECIAL_TOKENS):
        assert tokens[token] == index


def test_every_byte_has_a_token_and_a_space_is_what_gpt2_writes() -> None:
    characters = model.byte_characters()
    assert len(set(characters)) == 256
    assert characters[ord(" ")] == "\u0120"
    assert characters[ord("\n")] == "\u010a"
    assert characters[0xAD] == "\u0143"
    assert characters[ord("A")] == "A"
    assert set(characters) <= set(model.vocabulary()[0])


def test_merges_build_each_frequent_word_from_tokens_that_are_there() -> None:
    tokens, merges = model.vocabulary()
    made = set(model.byte_characters())
    for left, right in merges:
        assert {left, right} <= made
        assert left + right in tokens
        made.add(left + right)
    assert {f"\u0120{word}" for word in model.FREQUENT_WORDS.split()} <= made


def test_files_are_whole_and_written_anew_in_place(tmp_path: Path) -> None:
    folder = tmp_path / "model" / "tiny-gemma4"
    assert model.write(folder) == folder
    (folder / "config.json").write_text("{", encoding="utf-8")
    model.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    written = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.iterdir()}
    assert written["config.json"] == model.configuration()
    assert "add_generation_prompt" in written["tokenizer_config.json"]["chat_template"]
    names = {token["content"]: token["id"] for token in written["tokenizer.json"]["added_tokens"]}
    assert (
        names[written["tokenizer_config.json"]["eos_token"]]
        == (written["config.json"]["eos_token_id"])
    )
