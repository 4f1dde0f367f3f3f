"""Prompts that no server has seen before, of any length, whose beginnings are shorter ones."""

from __future__ import annotations

import random

# Frequent words, each one token or close to it in most vocabularies.
_TEXT = """
the of and to in that for it as with was on be by at this have from or one had not but what
all were when we there can an your which their said if do will each about how up out them then
many some so these would other into has more two time could make first people water long very
after words called just where most know through back much before great think also
"""
_WORDS = _TEXT.split()


def words(count: int, seed: int) -> str:
    """Return ``count`` words; those of a larger count with the same seed begin with them."""
    chosen = random.Random(seed)  # noqa: S311 - prompts are no secrets
    return " ".join(chosen.choice(_WORDS) for _ in range(count))
