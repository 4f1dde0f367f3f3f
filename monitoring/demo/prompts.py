"""Prompts that share a long beginning, and prompts that share nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from typing import Literal

Kind = Literal["shared", "unique"]

SHARED_WORDS = 1200
"""Words that the shared prompts have in common; about as many tokens."""

OWN_WORDS = 60
"""Words that are each shared prompt's own."""

# Frequent words, which nearly every tokenizer has as one token each.
_TEXT = (
    "the of and to in is that for it as with was on be by at this have from or one had not but "
    "what all were when we there can an your which their said if do will each about how up out "
    "them then she many some so these would other into has more her two like him see time could "
    "no make than first been its who now people my made over did down only way find use may water"
)
_WORDS = tuple(_TEXT.split())


def prompts(kind: Kind, seed: int) -> Iterator[str]:
    """Yield prompts without end; the same seed gives the same prompts.

    Args:
        kind: ``shared`` prompts begin with the same 1200 words, the same for every seed;
            ``unique`` ones have nothing in common from the first words on. All are equally long.
        seed: Tells apart what must not repeat: two runs of unique prompts need two seeds.
    """
    shared = _text(random.Random("shared"), SHARED_WORDS)  # noqa: S311 - no secret
    for number in count():
        own = random.Random(f"{kind} {seed} {number}")  # noqa: S311 - no secret
        if kind == "shared":
            yield f"{shared} {_text(own, OWN_WORDS)}"
        else:
            yield _text(own, SHARED_WORDS + OWN_WORDS)


def _text(numbers: random.Random, words: int) -> str:
    return " ".join(numbers.choices(_WORDS, k=words))
