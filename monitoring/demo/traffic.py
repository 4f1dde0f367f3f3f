"""A small load on vLLM's ``/v1/completions``."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

import requests

from monitoring.demo.prompts import Kind, prompts
from monitoring.exchange import ExchangeError, ask

_REQUEST_SECONDS = 30.0
_JOIN_SECONDS = 5.0
_AFTER_FAILURE_SECONDS = 0.5
_HTTP_OK = 200


class TrafficError(Exception):
    """The server cannot be sent traffic; the message is one line."""


def served_model(url: str) -> str:
    """Return the name of the first model that a server serves.

    Raises:
        TrafficError: It does not say.
    """
    try:
        return str(ask("GET", f"{url}/v1/models", 10).json_object()["data"][0]["id"])
    except ExchangeError as error:
        raise TrafficError(str(error)) from None
    except (LookupError, TypeError):
        raise TrafficError(f"{url}/v1/models does not name a model") from None


class Traffic:
    """Sends prompts of one kind until it is stopped; a context manager.

    At most ``clients`` requests are on their way at once, and at most ``rate`` are begun each
    second, so that quick answers do not weigh more than slow ones.
    """

    def __init__(
        self,
        url: str,
        model: str,
        kind: Kind,
        *,
        seed: int = 0,
        clients: int = 2,
        rate: float = 4.0,
        answer_tokens: int = 1,
    ) -> None:
        """Take the server, its model's name, and what to send; nothing is sent yet.

        Args:
            url: Root of the server.
            model: Name of the model.
            kind: Kind of the prompts.
            seed: Seed of the prompts.
            clients: Largest number of requests at once.
            rate: Largest number of requests a second.
            answer_tokens: Length of the answers.
        """
        self.kind = kind
        self._url = f"{url}/v1/completions"
        self._request = {
            "model": model,
            "max_tokens": answer_tokens,
            "temperature": 0,
            "ignore_eos": True,
        }
        self._prompts = prompts(kind, seed)
        self._interval = 1.0 / rate
        self._next_at = 0.0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._client, name=f"traffic-{number}", daemon=True)
            for number in range(clients)
        ]
        self._answered = 0
        self._failed = 0
        self._failure = ""

    @property
    def answered(self) -> int:
        """Number of requests that were answered."""
        return self._answered

    @property
    def failed(self) -> int:
        """Number of requests that failed."""
        return self._failed

    @property
    def failure(self) -> str:
        """Why the last failed request failed; empty if none did."""
        return self._failure

    def __enter__(self) -> Self:
        """Begin to send."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop: begin no more requests, and wait a little for those on their way."""
        self._stop.set()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def _client(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            while prompt := self._next_prompt():
                failure = self._send(session, prompt)
                with self._lock:
                    if failure:
                        self._failed += 1
                        self._failure = failure
                    else:
                        self._answered += 1
                if failure:
                    self._stop.wait(_AFTER_FAILURE_SECONDS)

    def _next_prompt(self) -> str | None:
        """Return the next prompt once its turn has come; None after the stop."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next_at)
            self._next_at = turn + self._interval
            prompt = next(self._prompts)
        return None if self._stop.wait(turn - now) else prompt

    def _send(self, session: requests.Session, prompt: str) -> str:
        """Send one prompt; return why it failed, or nothing."""
        try:
            response = session.post(
                self._url, json={**self._request, "prompt": prompt}, timeout=_REQUEST_SECONDS
            )
        except requests.RequestException as error:
            return type(error).__name__
        return "" if response.status_code == _HTTP_OK else f"HTTP {response.status_code}"
