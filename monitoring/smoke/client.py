"""Requests to an OpenAI-compatible server, bounded in time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

_OK = 200


class RequestError(Exception):
    """A request failed. The message is one line; ``status`` is HTTP's, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        """Take the reason and HTTP's status."""
        super().__init__(message)
        self.status = status


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
        self._session = requests.Session()
        self._session.trust_env = False
        if api_key:
            self._session.headers["Authorization"] = f"Bearer {api_key}"

    def get(self, path: str) -> str:
        """Return the text at ``path``, or raise `RequestError`."""
        return self._request("GET", path).text

    def get_object(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``, or raise `RequestError`."""
        return _object(self.get(path))

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
        response = self._request("POST", "/v1/completions", body, stream=True)
        try:
            for line in response.iter_lines(chunk_size=1):
                if line == b"data: [DONE]":
                    return Stream(tuple(moments), ended=True)
                if line.startswith(b"data: ") and _object(line[6:]).get("choices"):
                    moments.append(self._monotonic() - start)
                if self._monotonic() - start > self._timeout:
                    raise RequestError(f"the stream did not end within {self._timeout:g} s")
        except requests.RequestException as error:
            raise RequestError(f"the stream broke off ({type(error).__name__})") from None
        finally:
            response.close()
        return Stream(tuple(moments), ended=False)

    def _answer(
        self, path: str, body: dict[str, Any], text: Callable[[dict[str, Any]], str | None]
    ) -> Completion:
        start = self._monotonic()
        answer = _object(self._request("POST", path, body).text)
        seconds = self._monotonic() - start
        try:
            content = text(answer["choices"][0]) or ""
            usage = answer.get("usage") or {}
            return Completion(content, usage.get("prompt_tokens"), seconds)
        except (KeyError, IndexError, TypeError, AttributeError):
            raise RequestError(f"{path} answers in a form that is not OpenAI's") from None

    def _request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, stream: bool = False
    ) -> requests.Response:
        try:
            response = self._session.request(
                method, self.url + path, json=body, timeout=self._timeout, stream=stream
            )
        except requests.Timeout:
            raise RequestError(f"{path} did not answer within {self._timeout:g} s") from None
        except requests.ConnectionError:
            raise RequestError(f"nothing answers at {self.url}") from None
        except requests.RequestException as error:
            raise RequestError(f"{path} gives no valid answer ({type(error).__name__})") from None
        if response.status_code != _OK:
            raise RequestError(
                f"{path} answers HTTP {response.status_code}{_reason(response)}",
                response.status_code,
            )
        return response


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RequestError("the answer is not a JSON object: is this an OpenAI-compatible server?")
    return value


def _reason(response: requests.Response) -> str:
    """Return the server's own words on what is wrong, in one line."""
    try:
        answer = response.json()
        error = answer.get("error", answer)
        message = error.get("message", "") if isinstance(error, dict) else str(error)
    except (ValueError, AttributeError):
        return ""
    line = " ".join(str(message).split())
    return f": {line[:200]}" if line else ""
