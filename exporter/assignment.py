"""Which GPUs a server uses: what CUDA makes of a list of them, resolved against what is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from exporter.gpu import GPU

_ORDINAL = re.compile(r"[+-]?[0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PREFIXES = ("GPU-", "MIG-")
_NONE = ("", "NoDevFiles")
"""Values with which CUDA is told to use no GPU."""

_WORD = re.compile(r"-1|[0-9]{1,4}|(?:GPU|MIG)-[!-~]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An entry that somebody can have meant; with -1 CUDA's lists are ended."""


@dataclass(frozen=True)
class Assignment:
    """The GPUs of one server.

    Attributes:
        gpus: Those found, in the order in which CUDA would number them.
        unresolved: Entries that name no GPU of this host.
    """

    gpus: tuple[GPU, ...]
    unresolved: tuple[str, ...] = ()


def assign(gpus: Sequence[GPU], selection: str | None) -> Assignment:
    """Return which of ``gpus`` a server with ``selection`` uses.

    Args:
        gpus: The GPUs of this host, as NVML numbers them. CUDA numbers them alike if they are of
            one kind, or with ``CUDA_DEVICE_ORDER=PCI_BUS_ID``.
        selection: Value of ``CUDA_VISIBLE_DEVICES``; None stands for all.
    """
    if selection is None:
        return Assignment(tuple(gpus))
    found: list[GPU] = []
    unresolved: list[str] = []
    for entry in entries(selection):
        gpu = _resolve(gpus, entry)
        if gpu is None:
            unresolved.append(str(entry))
        elif gpu not in found:
            found.append(gpu)
    return Assignment(tuple(found), tuple(unresolved))


def parse_selection(text: str) -> str:
    """Return ``text`` if CUDA would take every entry of it; empty text stands for no GPU.

    `entries` reads what CUDA reads and is silent on the rest; who writes a list means all of it.

    Raises:
        ValueError: It would not; the message is one line.
    """
    if text.strip() in _NONE:
        return ""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not _WORD.fullmatch(word):
            raise ValueError(
                f"{word[:40]!r} in {text[:80]!r} is no GPU: write indices (0,1) or UUIDs as "
                "nvidia-smi -L shows them"
            )
    read = entries(text)
    meant = words[: words.index("-1")] if "-1" in words else words
    if not read and meant:
        raise ValueError(f"{text[:80]!r} has a GPU twice: CUDA would then use none at all")
    if len(read) < len(meant):
        raise ValueError(
            f"{text[:80]!r} mixes indices and UUIDs: CUDA would stop at the first of another kind"
        )
    return text


def entries(selection: str) -> list[int | str]:
    """Return the ordinals or the UUIDs that CUDA reads from a list.

    CUDA stops at the first entry that it cannot use, takes ordinals or UUIDs but not both (the
    first entry decides), and takes nothing if an entry is there twice. Beyond that, UUIDs may
    lack their prefix, as NVML allows.
    """
    words = [word.strip() for word in selection.split(",")]
    words = [f"GPU-{word}" if _UUID.fullmatch(word) else word for word in words]
    kind = next((prefix for prefix in _PREFIXES if words[0].startswith(prefix)), "")
    read: list[int | str] = []
    for word in words:
        entry = _ordinal(word) if not kind else word if word.startswith(kind) else None
        if entry is None:
            break
        if entry in read:
            return []
        read.append(entry)
    return read


def _ordinal(word: str) -> int | None:
    """Read as C's strtol does: a number at the beginning counts, what follows it does not."""
    match = _ORDINAL.match(word)
    number = int(match[0]) if match else -1
    return number if number >= 0 else None


def _resolve(gpus: Sequence[GPU], entry: int | str) -> GPU | None:
    if isinstance(entry, int):
        return next((gpu for gpu in gpus if gpu.index == str(entry)), None)
    # Compute instances of one MIG instance have a UUID each, and share what is reported.
    exact = [gpu for gpu in gpus if entry in (gpu.uuid, *gpu.aliases)]
    # A shortened UUID does for CUDA if only one begins so.
    candidates = exact or [
        gpu for gpu in gpus for uuid in (gpu.uuid, *gpu.aliases) if uuid.startswith(entry)
    ]
    return candidates[0] if len(candidates) == 1 else None
