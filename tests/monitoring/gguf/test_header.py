"""The header against the package ``gguf``, which writes and reads the files here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.gguf import header, tiny
from monitoring.gguf.header import HeaderError
from tests.gpu import mixture


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with a value of every type, and a few tensors."""
    path = tmp_path_factory.mktemp("whole") / "whole.gguf"
    writer = gguf.GGUFWriter(path, "gemma4")
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        getattr(writer, f"add_{name}")(f"of.{name}", 3)
    writer.add_float32("of.float32", 0.5)
    writer.add_float64("of.float64", 0.5)
    writer.add_bool("of.bool", True)
    writer.add_string("of.string", "token")
    writer.add_array("of.strings", ["a", "bc", ""])
    writer.add_array("of.numbers", [1, 2, 3])
    writer.add_tensor("norm.weight", np.zeros(8, np.float32))
    writer.add_tensor("one.weight", np.zeros((2, 8), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.mark.parametrize("kind", [*tiny.TYPES, "Q4_K_M"])
def test_architecture_and_types_are_those_that_the_package_reads(tmp_path: Path, kind: str) -> None:
    path = (mixture if kind == "Q4_K_M" else tiny).write(tmp_path, kind)
    matrices = [each for each in gguf.GGUFReader(path).tensors if len(each.shape) > 1]
    found = header.read(path)
    assert found.architecture == "gemma4"
    assert found.types == {each.tensor_type.name for each in matrices}


def test_numbers_of_types_are_those_of_the_package() -> None:
    for number, name in header._TYPES.items():
        assert gguf.GGMLQuantizationType(number).name == name


def test_values_of_every_type_are_passed_over(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "f").write_bytes(whole)
    assert header.read(tmp_path / "f") == header.Header("gemma4", frozenset({"F16"}))


@given(st.data())
def test_cut_or_changed_it_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("changed") / "f"
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    if changed:
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    with suppress(HeaderError):  # and nothing else
        header.read(path)
