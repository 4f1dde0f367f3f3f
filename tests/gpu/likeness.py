"""How alike two servers are, by the probabilities that they give the same tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import requests

LENGTHS_TOKENS = (3, 5, 8, 40, 120, 300, 700, 1400)
"""Of the prompts: a few rows have kernels of their own, 256 are a batch, 1024 the window."""

NEW_TOKENS = 12
DECIDED = 4.0
"""A first token must be the same where it leads by more than this many errors."""

_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Answer:
    """What a server says to a prompt.

    Attributes:
        prompt_logprobs: Of each token of the prompt but the first, which nothing comes before.
        tokens: The answer at temperature 0, as ids.
        lead: By how much the first of them is more probable than the second best, in logarithms.
    """

    prompt_logprobs: tuple[float, ...]
    tokens: tuple[int, ...]
    lead: float


@dataclass(frozen=True)
class Likeness:
    """How alike two servers' answers are.

    Attributes:
        tokens: Logarithms of probabilities that were compared.
        mean: Mean of their absolute differences.
        largest: The largest of them.
        relative: Root of their mean square, of the reference's standard deviation. Servers that
            have nothing in common have 1.4.
        same_first: Prompts whose first new token is the same.
        decided: Prompts whose first new token the reference leads with by `DECIDED` errors.
        same_decided: Those of them whose first token is the same.
        prompts: All of them.
    """

    tokens: int
    mean: float
    largest: float
    relative: float
    same_first: int
    decided: int
    same_decided: int
    prompts: int

    def within(self, limit: float) -> bool:
        """Tell whether the servers are the same model, up to ``limit`` of the spread."""
        return self.relative <= limit and self.same_decided == self.decided


def prompts(vocabulary: int) -> list[list[int]]:
    """Return prompts of tokens of a vocabulary, always the same."""
    state, found = 1, []
    for length in LENGTHS_TOKENS:
        prompt = []
        for _ in range(length):
            state = state * 48271 % 0x7FFFFFFF
            prompt.append(state % vocabulary)
        found.append(prompt)
    return found


def ask(url: str, model: str, prompt: Sequence[int]) -> Answer:
    """Return a server's answer.

    Raises:
        requests.RequestException: There is none.
    """
    body: dict[str, Any] = {
        "model": model,
        "prompt": list(prompt),
        "max_tokens": NEW_TOKENS,
        "temperature": 0,
        "logprobs": 2,
        "prompt_logprobs": 1,
        "ignore_eos": True,
        "return_tokens_as_token_ids": True,
    }
    response = requests.post(f"{url}/v1/completions", json=body, timeout=_TIMEOUT_SECONDS)
    response.raise_for_status()
    choice = response.json()["choices"][0]
    pairs = zip(prompt[1:], choice["prompt_logprobs"][1:], strict=True)
    best = sorted(choice["logprobs"]["top_logprobs"][0].values(), reverse=True)
    return Answer(
        tuple(float(found[str(token)]["logprob"]) for token, found in pairs),
        tuple(int(token.removeprefix("token_id:")) for token in choice["logprobs"]["tokens"]),
        best[0] - best[1],
    )


def compare(answers: Sequence[Answer], reference: Sequence[Answer]) -> Likeness:
    """Compare answers to the same prompts."""
    ours = [value for answer in answers for value in answer.prompt_logprobs]
    theirs = [value for answer in reference for value in answer.prompt_logprobs]
    differences = [abs(one - other) for one, other in zip(ours, theirs, strict=True)]
    middle = math.fsum(theirs) / len(theirs)
    spread = _root_mean_square([value - middle for value in theirs])
    error = _root_mean_square(differences)
    pairs = list(zip(answers, reference, strict=True))
    same = [one.tokens[0] == other.tokens[0] for one, other in pairs]
    decided = [other.lead > DECIDED * error for _, other in pairs]
    return Likeness(
        tokens=len(differences),
        mean=math.fsum(differences) / len(differences),
        largest=max(differences),
        relative=error / spread,
        same_first=sum(same),
        decided=sum(decided),
        same_decided=sum(one and other for one, other in zip(same, decided, strict=True)),
        prompts=len(pairs),
    )


def to_json(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Return answers as values for JSON."""
    return [asdict(answer) for answer in answers]


def from_json(values: Sequence[dict[str, Any]]) -> list[Answer]:
    """Return the answers that `to_json` wrote."""
    return [
        Answer(tuple(each["prompt_logprobs"]), tuple(each["tokens"]), each["lead"])
        for each in values
    ]


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values) / len(values))
