"""The GPU that a budget is made for: asked from the driver, or given."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.gpu import Backend, GPUError
from monitoring.budget.sizes import show

GIB70 = 70 * 1024**3
GIB160 = 160 * 1024**3


@dataclass(frozen=True)
class Card:
    """A GPU: what to call it, and the bytes that programs can have."""

    name: str
    usable: int


def given(usable: int) -> Card:
    """Return a card of a given size, which counts as usable: the driver's part is not known."""
    return Card(f"a GPU of {show(usable)}", usable)


def asked(backend: Backend) -> Card:
    """Return the smallest GPU of this machine: with several, it is the one that limits.

    Raises:
        GPUError: There is none.
    """
    try:
        snapshot = backend.read()
    finally:
        backend.close()
    cards = [
        Card(gpu.name, gpu.memory.total - (gpu.memory.reserved or 0))
        for gpu in snapshot.gpus
        if gpu.memory is not None
    ]
    if not cards:
        raise GPUError("the driver knows no GPU with memory of its own")
    return min(cards, key=lambda card: card.usable)


def default_batched_tokens(usable: int) -> int:
    """Return vLLM's ``--max-num-batched-tokens`` for a server on a card of that size.

    From ``EngineArgs.get_batch_defaults`` of vLLM 0.30 (an A100 gets 2048 all the same).
    """
    if usable >= GIB160:
        return 16384
    return 8192 if usable >= GIB70 else 2048
