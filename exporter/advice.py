"""What of a configuration is allowed and yet seldom meant: told in the log, refused by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from exporter.options import Server

SHORT_WINDOW_SECONDS = 15.0
"""Common scrape interval: a shorter window is that of the last two pages."""

LONG_WINDOW_SECONDS = 86400.0


def on_window(seconds: float) -> list[str]:
    """Return lines on the window of the hit rates."""
    if seconds < SHORT_WINDOW_SECONDS:
        told = "is shorter than common scrape intervals: the hit rates are those of the last one"
    elif seconds > LONG_WINDOW_SECONDS:
        told = "is longer than a day: hit rates and their alerts take as long to show a change"
    else:
        return []
    return [f"--cache.window {told}"]


def on_servers(servers: Sequence[Server]) -> list[str]:
    """Return lines on the servers: without any secret, each with the server's name."""
    lines = []
    names: dict[str, str] = {}
    for server in servers:
        before = names.setdefault(server.url, server.name)
        if before != server.name:
            lines.append(
                f"servers {before!r} and {server.name!r} have one URL: sums over servers count it "
                "twice"
            )
        if urlsplit(server.url).query:
            lines.append(
                f"the URL of server {server.name!r} has a query, which goes along to its metrics "
                "page; vLLM has no use for one"
            )
    return lines


def on_flags(servers: Sequence[Server]) -> list[str]:
    """Return lines on servers that are given by flags."""
    return [
        f"the URL of server {server.name!r} has a password, which everyone on this host can see "
        "in a list of processes: give headers or bearer_token_file in --config.file"
        for server in servers
        if urlsplit(server.url).password
    ]
