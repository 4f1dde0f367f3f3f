"""A metrics page as the commands read it: fetched at once, and searched for a few names."""

from __future__ import annotations

from collections.abc import Iterable

from exporter import exposition
from exporter.upstream import metrics_url
from monitoring.exchange import ExchangeError, ask

_OK = 200


class PageError(Exception):
    """A page cannot be had; the message is one line."""


def fetch(base: str, timeout: float) -> str:
    """Return the metrics page of the program at the URL ``base``, within ``timeout`` seconds.

    Raises:
        PageError: The page cannot be had.
    """
    try:
        answer = ask("GET", metrics_url(base), timeout)
    except ExchangeError as error:
        hint = ": is the program up, and the URL right?" if error.absent else ""
        raise PageError(f"{error}{hint}") from None
    if answer.status != _OK:
        raise PageError(f"{answer.url} answers HTTP {answer.status}")
    return answer.text


def parse(text: str, names: Iterable[str]) -> exposition.Page:
    """Return the samples of the wanted names.

    Raises:
        PageError: It has more of them than any server.
    """
    try:
        return exposition.parse(text.encode(), frozenset(names))
    except exposition.TooManyLinesError:
        raise PageError("the page has more series of vLLM than any server's") from None
