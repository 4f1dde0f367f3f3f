"""A load to measure, and the arguments by which ``vllm bench serve`` makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

SHARED = "shared"
UNIQUE = "unique"

Prompts = Literal["text", "tokens"]
"""How prompts are sent: as text, which the server tokenizes on arrival, or as token IDs."""

PROMPTS: tuple[Prompts, ...] = get_args(Prompts)


@dataclass(frozen=True)
class Scenario:
    """Requests of one shape.

    Attributes:
        prefix_tokens: Tokens at the front of each prompt.
        shared: Whether all requests have the same ones; otherwise each has its own.
        new_tokens: Tokens after the prefix, different in each request.
        output_tokens: Tokens to generate.
        concurrency: Requests at once.
        requests: Requests in all.
        prompts: How they are sent.
    """

    prefix_tokens: int
    shared: bool
    new_tokens: int
    output_tokens: int
    concurrency: int
    requests: int
    prompts: Prompts = "text"

    @property
    def kind(self) -> str:
        """Whether prefixes are shared or unique, in a word."""
        return SHARED if self.shared else UNIQUE

    @property
    def name(self) -> str:
        """Short name for people."""
        return f"{self.prefix_tokens} {self.kind}, {self.concurrency} at once, {self.prompts}"


@dataclass(frozen=True)
class Target:
    """The server to load.

    Attributes:
        url: Its root.
        model: What requests call its model.
        tokenizer: Folder or name of the model's tokenizer, which makes prompts of exact length.
        keeps_connections: Whether one connection serves several requests. llama.cpp says so too,
            but closes it after each stream, and the next request fails.
    """

    url: str
    model: str
    tokenizer: str
    keeps_connections: bool = True


def arguments(target: Target, load: Scenario, seed: int, folder: str, name: str) -> list[str]:
    """Return the arguments of ``vllm bench serve`` for one measurement.

    Its own warm-up and its trial request are off: they would count among the server's figures.
    """
    prefixes = 1 if load.shared else load.requests
    header = () if target.keeps_connections else ("--header", "Connection=close")
    return [
        *header,
        *("--backend", "openai", "--base-url", target.url, "--endpoint", "/v1/completions"),
        *("--model", target.model, "--tokenizer", target.tokenizer),
        *("--dataset-name", "prefix_repetition", "--seed", str(seed)),
        *("--num-prompts", str(load.requests)),
        *("--prefix-repetition-prefix-len", str(load.prefix_tokens)),
        *("--prefix-repetition-suffix-len", str(load.new_tokens)),
        *("--prefix-repetition-num-prefixes", str(prefixes)),
        *("--prefix-repetition-output-len", str(load.output_tokens)),
        *("--max-concurrency", str(load.concurrency)),
        *("--temperature", "0", "--ignore-eos", "--disable-tqdm"),
        *("--num-warmups", "0", "--ready-check-timeout-sec", "0"),
        *("--save-result", "--save-detailed", "--result-dir", folder, "--result-filename", name),
    ]


def priming(load: Scenario) -> Scenario:
    """Return one request with the same prefix, which brings it into the cache.

    With the same seed the generator draws the prefix first, so it is the same whatever follows. Of
    the rest it shares one token with the first request of the measurement.
    """
    return replace(load, shared=True, new_tokens=1, output_tokens=1, concurrency=1, requests=1)


def warm_up(loads: list[Scenario]) -> list[Scenario]:
    """Return one short load for each concurrency: compilations and buffers come with the first."""
    found: dict[int, Scenario] = {}
    for load in loads:
        largest = found.get(load.concurrency)
        if largest is None or load.prefix_tokens > largest.prefix_tokens:
            found[load.concurrency] = replace(
                load, shared=False, output_tokens=2, requests=load.concurrency
            )
    return list(found.values())


def plan(
    prefixes: list[int],
    concurrencies: list[int],
    kinds: list[bool],
    *,
    prompts: Sequence[Prompts] = ("text",),
    new_tokens: int,
    output_tokens: int,
    requests: int,
) -> list[Scenario]:
    """Return all scenarios, the quickest first."""
    return [
        Scenario(
            prefix,
            shared,
            new_tokens,
            output_tokens,
            concurrency,
            max(requests, 2 * concurrency),
            form,
        )
        for concurrency in sorted(concurrencies)
        for prefix in sorted(prefixes)
        for form in prompts
        for shared in kinds
    ]
