"""Where the exporter listens and where servers are: forms of addresses and their checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:8000"

_LISTEN_ADDRESS = re.compile(
    r"(?:\[(?P<v6>[0-9a-fA-F:.%\w]+)\]|(?P<host>[\w.-]*)):(?P<port>[0-9]{1,9})", re.ASCII
)
_MAX_PORT = 65535
_PORT_DIGITS = 5
_MAX_LABEL_CHARACTERS = 63
_URL_CHARACTERS = re.compile(r"[!-~]+")
_USERINFO = re.compile(r"//.*@")
_QUERY = re.compile(r"\?.*", re.DOTALL)


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen; an empty host is every address, IPv6 and IPv4."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return the form of the flag."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_listen_address(text: str, *, any_port: bool = False) -> ListenAddress:
    """Return the address of ``:18000``, ``127.0.0.1:18000`` or ``[::1]:18000``.

    Raises:
        ValueError: The text is none of these; the message is one line.
    """
    match = _LISTEN_ADDRESS.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no address: write :18000, 127.0.0.1:18000 or [::1]:18000")
    port = int(match["port"][:_PORT_DIGITS])
    least = 0 if any_port else 1
    if len(match["port"]) > _PORT_DIGITS or not least <= port <= _MAX_PORT:
        raise ValueError(f"port {match['port'][:20]} is not between {least} and {_MAX_PORT}")
    return ListenAddress(match["v6"] or match["host"], port)


def parse_free_address(text: str) -> ListenAddress:
    """Return the same, also with port 0, for which the system finds one that is free.

    Raises:
        ValueError: The text is no address; the message is one line.
    """
    return parse_listen_address(text, any_port=True)


def parse_url(text: str, example: str = DEFAULT_URL) -> str:
    """Return ``text`` without a trailing slash if it is an http or https URL with a host.

    User name and password are sent as basic authentication, a query goes along to the page.

    Args:
        text: What was given.
        example: What to write instead, for the message.

    Raises:
        ValueError: It is not; the message is one line, without a password that it may hold.
    """
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.port != 0
        valid = valid and _is_host(parts.hostname or "")
    except ValueError:
        valid = False
    if not valid or not _URL_CHARACTERS.fullmatch(text):
        shown = f"{redacted(text)!r} is no URL of a server"
        raise ValueError(f"{shown}: write {example}")
    if "#" in text:
        raise ValueError(
            f"{redacted(text)!r} has a part after #, which is never sent: leave it out"
        )
    return text.rstrip("/")


def _is_host(host: str) -> bool:
    """Tell whether a name can be looked up at all: libraries fail oddly at one that cannot."""
    labels = host.removesuffix(".").split(".")
    return ":" in host or all(0 < len(label) <= _MAX_LABEL_CHARACTERS for label in labels)


def redacted(url: str) -> str:
    """Return ``url`` fit to be shown: without user name, password and query."""
    return _QUERY.sub("?…", _USERINFO.sub("//", url, count=1), count=1)


def default_server_name(url: str) -> str:
    """Return host:port of ``url``, without a user name or password that it may hold."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{host}:{port}"
