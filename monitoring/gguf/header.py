"""The beginning of a GGUF file: its architecture, and the types of its matrices.

The package ``gguf`` is for vLLM's environment, and takes a minute over a vocabulary of 262144
tokens. The format, versions 2 and 3, all numbers little-endian: ``GGUF``, version, numbers of
tensors and of values; each value with name, type and content; each tensor with name, sizes, type
and place.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.files import open_file

MAGIC = b"GGUF"
VERSIONS = (2, 3)

UNQUANTIZED = frozenset({"F32", "F16", "BF16"})
"""Types that vLLM serves on a CPU; the plugin's kernels for all others need a GPU."""

_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    9: "Q8_1",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    30: "BF16",
}

_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of the other types of values."""

_LARGEST_RANK = 4
_MOST_ENTRIES = 1 << 24
"""Of anything that is read one by one: a vocabulary has some 100000. More is damage, and would be
counted through for hours where a download has left nought bytes."""


class HeaderError(ValueError):
    """A file is no whole GGUF file; the message is a few words."""


@dataclass(frozen=True)
class Header:
    """What a file says of itself.

    Attributes:
        architecture: llama.cpp's name, such as ``gemma4``; empty where the file has none.
        types: Types of its matrices, such as ``Q4_K``.
    """

    architecture: str
    types: frozenset[str]


def read(path: Path) -> Header:
    """Return what a file says of itself.

    Raises:
        HeaderError: It is no GGUF file, or not a whole one.
        OSError: It cannot be read.
    """
    with open_file(path) as file:
        begin = file.read(len(MAGIC))
        if begin != MAGIC:
            raise HeaderError(f"is no GGUF file: it begins with {begin!r}")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).header()
            except (struct.error, UnicodeDecodeError):
                raise HeaderError("ends before its header does, or is damaged") from None


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = len(MAGIC)

    def header(self) -> Header:
        version, tensors, values = self._numbers("<IQQ")
        if version not in VERSIONS:
            raise HeaderError(f"has version {version} of GGUF; 2 and 3 are known")
        architecture = ""
        for _ in self._entries(values):
            name = self._string()
            (kind,) = self._numbers("<I")
            if name == b"general.architecture" and kind == _STRING:
                architecture = self._string().decode()
            else:
                self._skip(kind)
        return Header(architecture, frozenset(self._types(tensors)))

    def _types(self, tensors: int) -> set[str]:
        found, last = set(), 0
        for _ in self._entries(tensors):
            self._string()
            (rank,) = self._numbers("<I")
            if rank > _LARGEST_RANK:
                raise HeaderError(f"is damaged: it has a tensor of {rank} dimensions")
            kind, place = self._numbers(f"<{rank * 8}xIQ")
            last = max(last, place)
            if rank > 1:
                found.add(_TYPES.get(kind, f"type {kind}"))
        if tensors and self._at + last >= len(self._data):
            raise HeaderError("ends before its tensors do: its download is not complete")
        return found

    @staticmethod
    def _entries(count: int) -> range:
        if count > _MOST_ENTRIES:
            raise HeaderError(f"is damaged: it has a list of {count} entries")
        return range(count)

    def _skip(self, kind: int) -> None:
        if kind == _STRING:
            self._string()
        elif kind == _ARRAY:
            inner, count = self._numbers("<IQ")
            if inner == _STRING:
                for _ in self._entries(count):
                    self._string()
            elif inner in _SIZES:
                self._move(_SIZES[inner] * count)
            else:
                raise HeaderError(f"has an array of type {inner}, which is not known")
        elif kind in _SIZES:
            self._move(_SIZES[kind])
        else:
            raise HeaderError(f"is damaged: it has a value of type {kind}")

    def _string(self) -> bytes:
        (length,) = self._numbers("<Q")
        start = self._at
        self._move(length)
        return self._data[start : self._at]

    def _numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def _move(self, bytes_: int) -> None:
        self._at += bytes_
        if self._at > len(self._data):
            raise struct.error
