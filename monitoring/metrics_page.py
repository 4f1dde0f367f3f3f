"""A metrics page as the commands read it: fetched at once, and searched for a few names."""

from __future__ import annotations

from collections.abc import Iterable

import requests

from exporter import exposition
from exporter.upstream import metrics_url


class PageError(Exception):
    """A page cannot be had; the message is one line."""


def fetch(base: str, timeout: float) -> str:
    """Return the metrics page of the program at the URL ``base``, within ``timeout`` seconds.

    Raises:
        PageError: The page cannot be had.
    """
    url = metrics_url(base)
    try:
        with requests.Session() as session:
            session.trust_env = False  # the program is a neighbour, not behind a proxy
            response = session.get(url, timeout=timeout)
            response.raise_for_status()
    except requests.HTTPError as error:
        raise PageError(f"{url} answers HTTP {error.response.status_code}") from None
    except requests.RequestException as error:
        raise PageError(
            f"{url} cannot be read ({type(error).__name__}): is the program up, and the URL right?"
        ) from None
    return response.content.decode("utf-8", errors="replace")


def parse(text: str, names: Iterable[str]) -> exposition.Page:
    """Return the samples of the wanted names."""
    return exposition.parse(text.encode(), frozenset(names))
