"""How many tokens of a repeated prompt are found, and in which steps.

vLLM finds whole blocks only, and the block that counts is not always the one that it names: with
layers of several kinds it is their common multiple. So the step is found by trying: a long prompt
once, then its beginnings, each twice as long as the last. At the first that hits, exactly one step
was found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from exporter import catalogue
from monitoring.metrics_page import PageError, parse
from monitoring.smoke.client import Client
from monitoring.smoke.prompt import words

SHORTEST_WORDS = 16
SETTLE_SECONDS = 1.0
"""How long the counters may lag behind an answer."""


class CountersError(Exception):
    """The counters say nothing of our requests; the message is one line that says why."""


@dataclass(frozen=True)
class Counters:
    """Lifetime counters of the prefix cache, in tokens."""

    looked_up: float
    found: float


@dataclass(frozen=True)
class Trial:
    """One repeated prompt: its tokens, those of them that were found, seconds to the answer."""

    tokens: int
    found: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Probe:
    """What the trials came to.

    Attributes:
        trials: Beginnings of the same prompt, the shortest first.
        repeated: The whole prompt again.
        first_seconds: What the whole prompt took at first.
    """

    trials: tuple[Trial, ...]
    repeated: Trial
    first_seconds: float

    @property
    def step(self) -> int | None:
        """Tokens that are found at once; None where nothing was found."""
        every = (*self.trials, self.repeated)
        return next((trial.found for trial in every if trial.found), None)


def counters(page: str) -> Counters:
    """Return the sums over models and engines of vLLM's page.

    Raises:
        CountersError: They are not there.
    """
    names = (catalogue.PREFIX_CACHE_QUERIES, catalogue.PREFIX_CACHE_HITS)
    try:
        samples = parse(page, frozenset(names)).samples
    except PageError as error:
        raise CountersError(str(error)) from None
    sums = [sum(each.value for each in samples if each.name == name) for name in names]
    if len({each.name for each in samples}) < len(names):
        raise CountersError("vLLM's counters of the prefix cache are not on /metrics")
    if not all(map(math.isfinite, sums)):
        raise CountersError("vLLM's counters of the prefix cache are no numbers")
    return Counters(*sums)


def probe(
    client: Client, model: str, most_tokens: int, seed: int, progress: Callable[[str], None]
) -> Probe:
    """Try which beginnings of a new prompt are found after it was sent once.

    Args:
        client: The server.
        model: What to ask for.
        most_tokens: Length of the whole prompt, in tokens.
        seed: Makes the prompt; one that was used before is found from the start.
        progress: Told each step.

    Raises:
        RequestError: A request fails.
        CountersError: Others use the server meanwhile, or it does not count.
    """
    per_word = _tokens_per_word(client, model, seed)
    most_words = max(SHORTEST_WORDS, int(most_tokens / per_word))
    progress("a new prompt, for the first time")
    first = client.complete(model, words(most_words, seed))
    trials = []
    count = SHORTEST_WORDS
    while count < most_words:
        progress(f"its first {count} words")
        trials.append(_trial(client, model, words(count, seed)))
        if trials[-1].found:
            break
        count *= 2
    progress("the whole prompt again")
    repeated = _trial(client, model, words(most_words, seed))
    return Probe(tuple(trials), repeated, first.seconds)


def _tokens_per_word(client: Client, model: str, seed: int) -> float:
    sample = 64
    # Another seed: the sample must not warm the prompt that is tried.
    answer = client.complete(model, words(sample, seed + 1))
    if not answer.prompt_tokens:
        raise CountersError("the server does not count prompt tokens (usage)")
    return answer.prompt_tokens / sample


def _trial(client: Client, model: str, prompt: str) -> Trial:
    before = counters(client.get("/metrics"))
    answer = client.complete(model, prompt)
    tokens = answer.prompt_tokens or 0
    deadline = time.monotonic() + SETTLE_SECONDS
    after = counters(client.get("/metrics"))
    while after.looked_up - before.looked_up < tokens and time.monotonic() < deadline:
        time.sleep(0.05)
        after = counters(client.get("/metrics"))
    looked_up = after.looked_up - before.looked_up
    if looked_up == 0:
        return Trial(tokens, 0, answer.seconds)  # caching is off: nothing is looked up
    if looked_up != tokens:
        raise CountersError(
            f"{looked_up:.0f} tokens were looked up while {tokens} were sent: others use the server"
        )
    return Trial(tokens, int(after.found - before.found), answer.seconds)
