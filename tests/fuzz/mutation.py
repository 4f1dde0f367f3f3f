"""Plain random mutations, where atheris cannot be had."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.targets import Target


def run(target: Target, seconds: float, seed: int, keep: Path) -> tuple[int, str]:
    """Feed mutated seeds to ``target`` until time is up or one input breaks it.

    Returns:
        The number of inputs, and what broke; the input is in the folder ``keep`` then.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret depends on it
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        body = mutated(chance.choice(target.seeds), target.tokens, chance)
        count += 1
        try:
            target.attempt(body)
        except Exception as error:
            keep.mkdir(parents=True, exist_ok=True)
            path = keep / f"input-{seed}-{count}"
            path.write_bytes(body)
            return count, f"{type(error).__name__}: {error}; kept in {path}"
    return count, ""


def mutated(seed: bytes, tokens: Sequence[bytes], chance: random.Random) -> bytes:
    """Return ``seed`` after a few cuts, repetitions, insertions and flips."""
    body = bytearray(seed)
    for _ in range(chance.randint(1, 12)):
        at = chance.randint(0, len(body))
        to = min(len(body), at + chance.choice([1, 3, 20, 300]))
        kind = chance.randrange(5)
        if kind == 0:
            del body[at:to]
        elif kind == 1:
            body[at:at] = body[at:to] * chance.choice([1, 2, 50])
        elif kind == 2 and at < len(body):
            body[at] = chance.randrange(256)
        else:
            body[at:at] = chance.choice(tokens)
    return bytes(body)
