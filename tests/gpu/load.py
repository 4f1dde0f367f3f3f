"""Clients that ask a server for completions, with prompts as token IDs: their length is exact."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests

FIRST_TOKEN, LAST_TOKEN = 10, 500
"""Token IDs that any tokenizer here has, none of them special."""

REQUEST_SECONDS = 60.0


@dataclass
class Tally:
    """Requests that were answered, and those that were not."""

    answered: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Prompts:
    """Lengths in tokens; a shared part of 0 makes each prompt its own."""

    shared: int
    unique: int
    output: int = 32


@contextmanager
def running(url: str, model: str, prompts: Prompts, clients: int, seed: int) -> Iterator[Tally]:
    """Let clients ask one request after the other as long as the context lasts."""
    tally, stop = Tally(), threading.Event()
    address = f"{url}/v1/completions"
    prefix = _tokens(random.Random(seed), prompts.shared)  # noqa: S311 - no secret

    def client(number: int) -> None:
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
        with requests.Session() as session:
            session.trust_env = False
            while not stop.is_set():
                body = {
                    "model": model,
                    "prompt": prefix + _tokens(chance, prompts.unique),
                    "max_tokens": prompts.output,
                    "temperature": 0,
                    "ignore_eos": True,
                }
                try:
                    answered = session.post(address, json=body, timeout=REQUEST_SECONDS).ok
                except requests.RequestException:
                    answered = False
                if answered:
                    tally.answered += 1
                else:
                    tally.failed += 1
                    stop.wait(0.5)

    threads = [threading.Thread(target=client, args=(n,), daemon=True) for n in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield tally
    finally:
        stop.set()
        for thread in threads:
            thread.join(REQUEST_SECONDS)


def _tokens(chance: random.Random, count: int) -> list[int]:
    return [chance.randrange(FIRST_TOKEN, LAST_TOKEN) for _ in range(count)]
