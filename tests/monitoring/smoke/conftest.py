"""A stand-in for a server: it answers as vLLM does, with one thing at a time wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PAGE = (
    Path(__file__).parents[2] / "recordings/cpu-vllm-0.30.0/metrics-gemma4-after-load.txt"
).read_text()

COUNTER_NAMES = ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total")


@dataclass
class Behaviour:
    """What the stand-in does; a word is a token, and there is one more at the beginning."""

    version: str | None = "0.30.0"
    models: list[dict[str, Any]] = field(
        default_factory=lambda: [{"id": "m", "root": "google/m", "max_model_len": 4096}]
    )
    page: str = PAGE
    step: int = 64
    looks_up: bool = True
    strangers: int = 0
    statuses: dict[str, tuple[int, str]] = field(default_factory=dict)
    text: str = "four"
    pieces: tuple[float, ...] = (0.0, 0.02, 0.02)
    ends: bool = True
    usage: bool = True
    looked_up: int = 0
    found: int = 0
    seen: list[list[str]] = field(default_factory=list)

    def take(self, prompt: str) -> int:
        """Count a prompt as vLLM's prefix cache does; return its tokens."""
        tokens = ["<bos>", *prompt.split()]
        if self.looks_up:
            shared = max((_common(tokens, other) for other in self.seen), default=0)
            whole = min(shared, len(tokens) - 1) // self.step * self.step
            self.found += whole
            self.looked_up += len(tokens) + self.strangers
        self.seen.append(tokens)
        return len(tokens)

    def metrics(self) -> str:
        """Return the recorded page with counters of the stand-in's own."""
        lines = []
        for line in self.page.splitlines():
            name = line.partition("{")[0]
            if name in COUNTER_NAMES:
                value = (self.looked_up, self.found)[COUNTER_NAMES.index(name)]
                lines.append(f"{line.rpartition(' ')[0]} {value}")
            else:
                lines.append(line)
        return "\n".join(lines) + "\n"


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    @property
    def behaviour(self) -> Behaviour:
        return self.server.behaviour  # type: ignore[attr-defined, no-any-return]

    def do_GET(self) -> None:
        told = self.behaviour
        if self.path in told.statuses:
            self.answer(*told.statuses[self.path])
        elif self.path == "/version" and told.version:
            self.answer(200, json.dumps({"version": told.version}))
        elif self.path == "/v1/models":
            self.answer(200, json.dumps({"data": told.models}))
        elif self.path == "/metrics":
            self.answer(200, told.metrics())
        else:
            self.answer(404, '{"detail": "Not Found"}')

    def do_POST(self) -> None:
        told = self.behaviour
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in told.statuses:
            self.answer(*told.statuses[self.path])
        elif body.get("stream"):
            self.stream()
        elif self.path == "/v1/chat/completions":
            message = {"message": {"content": told.text}}
            self.answer(200, json.dumps({"choices": [message]}))
        else:
            tokens = told.take(body["prompt"])
            usage = {"prompt_tokens": tokens} if told.usage else None
            choices = [{"text": told.text}]
            self.answer(200, json.dumps({"choices": choices, "usage": usage}))

    def stream(self) -> None:
        self.send_response(200)
        self.end_headers()
        for pause in self.behaviour.pieces:
            time.sleep(pause)
            self.wfile.write(b'data: {"choices": [{"text": "a"}]}\n\n')
            self.wfile.flush()
        if self.behaviour.ends:
            self.wfile.write(b"data: [DONE]\n\n")

    def answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def behaviour() -> Behaviour:
    return Behaviour()


@pytest.fixture
def url(behaviour: Behaviour) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.behaviour = behaviour  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
