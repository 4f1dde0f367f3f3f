"""The models and the judgement of `tests.gpu.gguf`; the servers need a GPU."""

from __future__ import annotations

import json
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

from monitoring.gguf.plugin.gguf_gemma4_text import names
from tests.gpu import gguf as program
from tests.gpu import gguf_table, likeness, mixture
from tests.gpu.likeness import Answer


def answers(seed: int, noise: float = 0.0) -> list[Answer]:
    random, other = np.random.default_rng(seed), np.random.default_rng(99)
    values = random.normal(-7, 2, (4, 50)) + noise * other.normal(0, 2, (4, 50))
    return [Answer(tuple(map(float, row)), (seed, 1), 0.5) for row in values]


def test_scales_and_minima_are_packed_as_gguf_unpacks_them() -> None:
    scales = np.arange(64, dtype=np.uint8).reshape(8, 8)
    minima = scales[::-1, ::-1].copy()
    found = gguf.quants.Q4_K.get_scale_min(mixture._packed(scales, minima))
    assert (found[0] == scales).all()
    assert (found[1] == minima).all()


@pytest.mark.parametrize("name", ["Q4_K", "Q6_K"])
def test_blocks_are_of_the_size_of_their_type_and_weights_of_the_wanted_spread(name: str) -> None:
    kind = gguf.GGMLQuantizationType[name]
    draw = mixture.q4_k if name == "Q4_K" else mixture.q6_k
    rows = draw(np.random.default_rng(1), 128, 512)
    weights_per_block, size = gguf.GGML_QUANT_SIZES[kind]
    assert weights_per_block == mixture.BLOCK_WEIGHTS
    assert rows.shape == (128, 2 * size)
    weights = gguf.quants.dequantize(rows, kind)
    assert weights.std() == pytest.approx(mixture.SPREAD, rel=0.1)
    assert abs(weights.mean()) < 0.01 * mixture.SPREAD


def test_types_are_those_of_q4_k_m(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(mixture.write(tmp_path, "Q4_K_M"))
    types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    assert types["token_embd.weight"] == "Q6_K"
    # One layer in vLLM, of two types.
    assert (types["blk.2.attn_q.weight"], types["blk.2.attn_v.weight"]) == ("Q4_K", "Q6_K")
    assert Counter(types.values()) == {"F32": 29, "Q4_K": 23, "Q6_K": 4}


def test_the_reference_has_the_weights_of_the_file(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(mixture.write(tmp_path / "file", "Q4_K_M"))
    path = mixture.write_reference(tmp_path / "reference") / "model.safetensors"
    whole = path.read_bytes()
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8:start])
    others = names(mixture.configuration()["num_hidden_layers"])
    assert set(header) == {others[tensor.name] for tensor in reader.tensors}
    for tensor in reader.tensors:
        entry = header[others[tensor.name]]
        begin, end = entry["data_offsets"]
        bits = np.frombuffer(whole[start + begin : start + end], np.uint16)
        found = (bits.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_allclose(found, expected, rtol=2**-8)


@pytest.mark.parametrize(("name", "largest"), [("Q8_0", 0.005), ("Q4_0", 0.1)])
def test_other_types_hold_nearly_the_same_weights(name: str, largest: float) -> None:
    kind = gguf.GGMLQuantizationType[name]
    part = next(mixture.mixture(mixture.configuration()))
    assert 0 < mixture.error(mixture.requantized(part, kind), part) < largest


def test_a_server_is_like_itself_and_like_no_other() -> None:
    same = likeness.compare(answers(1), answers(1))
    assert (same.relative, same.same_first, same.tokens) == (0, 4, 200)
    assert same.within(0.05)
    near = likeness.compare(answers(1, noise=0.05), answers(1))
    assert near.within(0.1)
    assert not near.within(0.02)
    other = likeness.compare(answers(2), answers(1))
    assert other.relative > 1.2
    assert not other.within(0.5)


def test_a_first_token_that_the_reference_is_sure_of_must_be_the_same() -> None:
    changed = [replace(answer, tokens=(7, 7)) for answer in answers(1)]
    assert not likeness.compare(changed, answers(1)).within(0.1)
    unsure = [replace(answer, lead=0.0) for answer in answers(1)]
    assert likeness.compare(changed, unsure).within(0.1)


def test_answers_survive_the_file_of_results() -> None:
    written = json.loads(json.dumps(likeness.to_json(answers(3))))
    assert likeness.from_json(written) == answers(3)


def test_only_weights_that_were_changed_have_the_larger_limit() -> None:
    same = [("Q4_K_M", "Q4_K_M"), ("Q8_0@other-plugin", "Q4_K_M"), ("Q4_0", "Q4_0")]
    assert {gguf_table.limit(*each) for each in same} == {gguf_table.SAME}
    assert gguf_table.limit("Q4_0", "Q4_K_M") == gguf_table.CHANGED


def test_a_server_that_fails_is_told_and_a_different_one_is_not_called_the_same() -> None:
    results = [
        gguf_table.Result("reference", 60.0, {"num_gpu_blocks": "7"}),
        gguf_table.Result("Q4_K_M", failure="gguf-Q4_K_M ended"),
        gguf_table.Result("Q8_0@other-plugin", 61.0, {}, likeness.compare(answers(2), answers(1))),
        gguf_table.Result("Q4_0", 61.0, {}, likeness.compare(answers(1), answers(1))),
    ]
    table = gguf_table.markdown(results, {"plugin": "0.0.5, Triton"})
    assert "| reference | 60 s | 7 |" in table
    assert "FAILED: gguf-Q4_K_M ended" in table
    assert table.count("ANOTHER MODEL") == 1
    assert table.count("same model") == 1


def test_the_engine_s_reason_is_told_and_not_the_server_s_traceback(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("(EngineCore pid=1) KeyError: 'x'\n" + "(APIServer pid=2) File\n" * 60)
    assert program.reason(path) == ["(EngineCore pid=1) KeyError: 'x'"]
