"""Requests to an OpenAI-compatible server, bounded in time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from monitoring.exchange import MOST_BYTES, Answer, ExchangeError, ask

_OK = 200
_MOST_TOKENS = 1_000_000_000
_STREAM_BYTES = 1024 * 1024


class RequestError(Exception):
    """A request failed. The message is one line; ``status`` is HTTP's, 0 without an answer.

    Attributes:
        absent: Whether nothing listens there.
        late: Whether the answer was not complete in time.
    """

    def __init__(
        self, message: str, status: int = 0, *, absent: bool = False, late: bool = False
    ) -> None:
        """Take the reason and HTTP's status."""
        super().__init__(message)
        self.status = status
        self.absent = absent
        self.late = late


@dataclass(frozen=True)
class Completion:
    """An answer to a prompt.

    Attributes:
        text: What was generated.
        prompt_tokens: Tokens of the prompt as the server counts them; None where it does not tell.
        seconds: Until the answer was complete.
    """

    text: str
    prompt_tokens: int | None
    seconds: float


@dataclass(frozen=True)
class Stream:
    """A streamed answer: seconds until each piece with text came, and whether it was ended."""

    moments: tuple[float, ...]
    ended: bool


class Client:
    """Speaks to one server."""

    def __init__(
        self,
        url: str,
        timeout: float,
        api_key: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the server's root, the seconds that a request may take, and a key if need be."""
        self.url = url
        self._timeout = timeout
        self._monotonic = monotonic
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}

    def get(self, path: str) -> str:
        """Return the text at ``path``, or raise `RequestError`."""
        return self._request("GET", path).text

    def get_object(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``, or raise `RequestError`."""
        return _object(self._request("GET", path))

    def complete(self, model: str, prompt: str, tokens: int = 1) -> Completion:
        """Return a completion of ``prompt``, or raise `RequestError`."""
        body = {"model": model, "prompt": prompt, "max_tokens": tokens, "temperature": 0}
        return self._answer("/v1/completions", body, lambda choice: choice.get("text"))

    def chat(self, model: str, message: str, tokens: int = 8) -> Completion:
        """Return the answer to one message, or raise `RequestError`."""
        messages = [{"role": "user", "content": message}]
        body = {"model": model, "messages": messages, "max_tokens": tokens, "temperature": 0}
        # A model that thinks first may not have come to content after a few tokens.
        return self._answer(
            "/v1/chat/completions",
            body,
            lambda choice: (
                choice["message"].get("content") or choice["message"].get("reasoning") or ""
            ),
        )

    def stream(self, model: str, prompt: str, tokens: int = 8) -> Stream:
        """Return when the pieces of a streamed completion came, or raise `RequestError`."""
        body = {
            "model": model,
            "prompt": prompt,
            "max_tokens": tokens,
            "temperature": 0,
            "stream": True,
            "ignore_eos": True,
        }
        start = self._monotonic()
        moments: list[float] = []
        ended = False

        def on_line(line: bytes) -> bool:
            nonlocal ended
            ended = line == b"data: [DONE]"
            if line.startswith(b"data: ") and _has_choices(line[6:]):
                moments.append(self._monotonic() - start)
            return ended

        self._request("POST", "/v1/completions", body, on_line)
        return Stream(tuple(moments), ended)

    def _answer(
        self, path: str, body: dict[str, Any], text: Callable[[dict[str, Any]], str | None]
    ) -> Completion:
        start = self._monotonic()
        answer = _object(self._request("POST", path, body))
        seconds = self._monotonic() - start
        try:
            content = text(answer["choices"][0]) or ""
            tokens = (answer.get("usage") or {}).get("prompt_tokens")
        except (KeyError, IndexError, TypeError, AttributeError):
            content = None
        if not isinstance(content, str):
            raise RequestError(f"{path} answers in a form that is not OpenAI's")
        counted = isinstance(tokens, int) and 0 < tokens < _MOST_TOKENS
        return Completion(content, tokens if counted else None, seconds)

    def _request(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        on_line: Callable[[bytes], bool] | None = None,
    ) -> Answer:
        try:
            answer = ask(
                method,
                self.url + path,
                self._timeout,
                json=body,
                headers=self._headers,
                on_line=on_line,
                most_bytes=_STREAM_BYTES if on_line else MOST_BYTES,
            )
        except ExchangeError as error:
            raise RequestError(str(error), absent=error.absent, late=error.late) from None
        if answer.status != _OK:
            raise RequestError(
                f"{path} answers HTTP {answer.status}{_reason(answer)}", answer.status
            )
        return answer


def _object(answer: Answer) -> dict[str, Any]:
    try:
        return answer.json_object()
    except ExchangeError as error:
        raise RequestError(str(error)) from None


def _has_choices(event: bytes) -> bool:
    """Tell whether an event of a stream brings text; one of figures alone has no choices."""
    try:
        value = json.loads(event)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.get("choices"))


def _reason(answer: Answer) -> str:
    """Return the server's own words on what is wrong, in one line."""
    try:
        said = answer.json_object()
    except ExchangeError:
        return f" with {answer.kind}"
    error = said.get("error", said)
    message = error.get("message", "") if isinstance(error, dict) else str(error)
    line = " ".join(str(message).split())
    return f": {line[:200]}" if line else ""
