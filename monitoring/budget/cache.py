"""How vLLM lays out its KV cache, and how many tokens of it a memory holds.

The rules are those of vLLM 0.30 (``vllm/v1/core/kv_cache_utils.py`` and
``vllm/v1/kv_cache_interface.py``): the memory is one pool of equal blocks. Layers of one kind form
groups, and each group of a sequence takes blocks of its own from the pool. So a hybrid model's
sequence takes more than the sum of what its layers keep, and a sliding layer keeps more than its
window: the tokens that are being computed come on top of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.budget.architecture import FULL, SLIDING, CacheLayer

CACHE_TYPES: dict[str, int] = {"bfloat16": 2, "float16": 2, "float32": 4, "fp8": 1}
"""Bytes per number of ``--kv-cache-dtype``; ``auto`` is the model's own type."""

_PADDING_LIMIT = 1.5


@dataclass(frozen=True)
class Group:
    """Layers that share a table of blocks.

    Attributes:
        kind: Full or sliding.
        block_tokens: Tokens per block.
        window: Tokens that the layers look back over; 0 for full attention.
        layers: How many layers the group has.
    """

    kind: str
    block_tokens: int
    window: int
    layers: int


@dataclass(frozen=True)
class Layout:
    """The pool of blocks.

    Attributes:
        block_bytes: Size of one block, over all layers of a group.
        groups: Groups of layers; a sequence takes blocks for each.
    """

    block_bytes: int
    groups: tuple[Group, ...]

    def blocks(self, tokens: int, in_flight: int) -> int:
        """Return the blocks that vLLM sets aside for a sequence of ``tokens``.

        Args:
            tokens: Length of prompt and answer together.
            in_flight: Most tokens that are computed and not yet settled: batched tokens times
                batches at once.
        """
        total = 0
        for group in self.groups:
            if group.kind == FULL:
                total += _ceil(tokens, group.block_tokens)
            else:
                kept = min(group.window - 1 + in_flight, tokens)
                # One more, because a window need not begin where a block begins.
                total += _ceil(kept, group.block_tokens) + 1
        return total

    def sequence_bytes(self, tokens: int, in_flight: int) -> int:
        """Return what vLLM sets aside for a sequence of ``tokens``, in bytes."""
        return self.block_bytes * self.blocks(tokens, in_flight)


@dataclass(frozen=True)
class Capacity:
    """What a memory holds; the names are those of ``vllm:cache_config_info``.

    Attributes:
        num_gpu_blocks: Blocks of the pool.
        kv_cache_max_concurrency: Sequences of full length that fit at once.
        kv_cache_size_tokens: The same in tokens.
    """

    num_gpu_blocks: int
    kv_cache_max_concurrency: float
    kv_cache_size_tokens: int


def layout(layers: Sequence[CacheLayer], block_size: int, number_bytes: int) -> Layout:
    """Return the layout of a model's cache.

    Args:
        layers: Layers that keep a cache of their own.
        block_size: ``--block-size``, in tokens.
        number_bytes: Bytes per number.
    """
    pages = {layer: block_size * layer.numbers_per_token * number_bytes for layer in set(layers)}
    windows = {layer.window for layer in layers}
    if len(windows) == 1:  # all need the same number of tokens: one group, whatever the head sizes
        group = Group(layers[0].kind, block_size, layers[0].window, len(layers))
        return Layout(sum(pages[layer] for layer in layers), (group,))
    page = max(pages.values())
    buckets = {layer: sum(other == layer for other in layers) for layer in dict.fromkeys(layers)}
    smallest, largest = min(buckets.values()), max(buckets.values())
    size = largest if largest < smallest * _PADDING_LIMIT else smallest
    groups = []
    for layer, count in buckets.items():
        # Smaller pages are filled with more tokens, where they go into the largest evenly.
        ratio = page // pages[layer] if page % pages[layer] == 0 else 1
        for index in range(_ceil(count, size)):
            members = len(range(index, count, _ceil(count, size)))
            groups.append(Group(layer.kind, block_size * ratio, layer.window, members))
    return Layout(page * size, tuple(groups))


def capacity(pool: Layout, memory: int, tokens: int, in_flight: int) -> Capacity:
    """Return what ``memory`` bytes hold of sequences of up to ``tokens``."""
    blocks = max(0, memory) // pool.block_bytes
    concurrency = blocks / pool.blocks(tokens, in_flight)
    return Capacity(blocks, concurrency, int(concurrency * tokens))


def longest(pool: Layout, memory: int, sequences: int, in_flight: int, limit: int) -> int:
    """Return the largest length of which ``sequences`` fit at once; 0 where none does.

    One block is not for use: vLLM keeps it back as the empty block.
    """
    blocks = max(0, memory) // pool.block_bytes - 1
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if sequences * pool.blocks(middle, in_flight) <= blocks:
            low = middle
        else:
            high = middle - 1
    return low


def needed(layers: Sequence[CacheLayer], tokens: int, number_bytes: int) -> dict[str, int]:
    """Return the bytes by layer kind that one sequence of ``tokens`` needs at the least.

    Without blocks and without tokens in flight, as a server would keep it that holds exactly the
    window of each sliding layer: what guides compute, and a lower bound for vLLM.
    """
    result = {FULL: 0, SLIDING: 0}
    for layer in layers:
        kept = min(tokens, layer.window) if layer.kind == SLIDING else tokens
        result[layer.kind] += kept * layer.numbers_per_token * number_bytes
    return result


def _ceil(value: int, step: int) -> int:
    return -(-value // step)
