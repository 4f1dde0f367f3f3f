"""The web configuration file, in the format of Prometheus' exporter-toolkit.

TLS, basic authentication, response headers and a rate limit. The file and the certificates that
it names are looked at again while the exporter runs; a bad new one leaves the old in force.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from exporter import web_tls
from exporter.options import parse_duration
from exporter.yaml_document import Document, DocumentError, FaultError, read_document

log = structlog.get_logger()

Users = Mapping[str, bytes]
"""bcrypt hash of the password by user name."""

_Identity = tuple[int, ...]
_Seen = tuple[_Identity, ...]

_KEYS = frozenset({"tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"})
_HTTP_KEYS = frozenset({"http2", "headers"})
_HEADERS: dict[str, tuple[str, ...]] = {
    "Content-Security-Policy": (),
    "X-Frame-Options": ("deny", "sameorigin"),
    "X-Content-Type-Options": ("nosniff",),
    "X-XSS-Protection": (),
    "Strict-Transport-Security": (),
}
"""Headers that may be added to answers, with the values allowed where only few make sense."""

_BCRYPT = re.compile(r"\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


class WebConfigError(Exception):
    """The configuration cannot be used. The message is one line with line and key."""


@dataclass(frozen=True)
class RateLimit:
    """``burst`` requests at once, then one each ``interval_seconds``."""

    interval_seconds: float
    burst: int


@dataclass(frozen=True)
class WebConfig:
    """One web configuration.

    Attributes:
        tls: What connections are encrypted with; None for plain HTTP.
        allowed_sans: Names of which a client's certificate must hold one; empty for any.
        headers: Added to every answer.
        users: Who may log in; empty for everyone without login.
        rate_limit: None for no limit.
    """

    tls: ssl.SSLContext | None = None
    allowed_sans: frozenset[str] = frozenset()
    headers: tuple[tuple[str, str], ...] = ()
    users: Users = field(default_factory=dict)
    rate_limit: RateLimit | None = None

    def allows(self, certificate: Mapping[str, Any]) -> bool:
        """Tell whether a certificate, as `ssl.SSLSocket.getpeercert` gives it, has a good name."""
        names = {value for _, value in certificate.get("subjectAltName", ())}
        return bool(names & self.allowed_sans)


def load(path: Path) -> WebConfig:
    """Return the configuration in ``path``.

    Raises:
        WebConfigError: It is none.
    """
    return WebConfigFile(path).current


class WebConfigFile:
    """A web configuration that follows its file."""

    def __init__(self, path: Path) -> None:
        """Read ``path``.

        Raises:
            WebConfigError: It cannot be used.
        """
        self._path = path
        self._named: tuple[Path, ...] = ()
        self._seen: _Seen = ()
        self.current = self._read()

    def refresh(self) -> bool:
        """Read the file again if it or a file that it names has changed; tell whether it is new.

        One that cannot be used is logged once and leaves the old one in force. It is tried again
        when it changes, or a file that it names, which may only come later.
        """
        if self._seen == (_identity(self._path), *map(_identity, self._named)):
            return False
        try:
            new = self._read()
            if (new.tls is None) != (self.current.tls is None):
                raise WebConfigError(
                    f"{self._path}: tls_server_config cannot come or go while the exporter runs: "
                    "restart it"
                )
            if new == WebConfig() != self.current:
                # While a file is written anew it is empty for a moment, which opens no page.
                raise WebConfigError(
                    f"{self._path}: is empty: restart the exporter if everyone may have its pages"
                )
        except WebConfigError as error:
            log.error("web configuration refused; the old one stays in force", reason=str(error))
            return False
        self.current = new
        log.info("web configuration read again", file=str(self._path))
        return True

    def _read(self) -> WebConfig:
        # Looked at before they are read: what changes meanwhile is read another time.
        self._named, self._seen = (), (_identity(self._path),)
        try:
            document = read_document(self._path)
            self._named = web_tls.files(document, self._path.parent)
            self._seen += tuple(map(_identity, self._named))
            return _web_config(document, self._path.parent)
        except DocumentError as error:
            raise WebConfigError(str(error)) from error


def _identity(path: Path) -> _Identity:
    try:
        # Follows links: Kubernetes swaps a mounted secret by turning a link.
        status = path.stat()
    except (OSError, ValueError):  # a ValueError for a name that no file can have
        return ()
    who_may = (status.st_mode, status.st_uid, status.st_gid)
    return status.st_mtime_ns, status.st_size, status.st_ino, *who_may


def _web_config(document: Document, base: Path) -> WebConfig:
    document.only((), _KEYS)
    tls = web_tls.read(document, base)
    users = document.mapping(("basic_auth_users",))
    limit = document.mapping(("rate_limit",))
    return WebConfig(
        tls=tls.context if tls else None,
        allowed_sans=tls.allowed_sans if tls else frozenset(),
        headers=_headers(document),
        users={name: _hash(document, name, value) for name, value in users.items()},
        rate_limit=_rate_limit(document) if limit else None,
    )


def _headers(document: Document) -> tuple[tuple[str, str], ...]:
    document.only(("http_server_config",), _HTTP_KEYS)
    # Only HTTP/1.1 is served, which every client of the format speaks: http2 has no effect.
    document.boolean(("http_server_config", "http2"))
    path = ("http_server_config", "headers")
    document.only(path, frozenset(_HEADERS))
    found = []
    for name in document.mapping(path):
        value = document.string((*path, name)) or ""
        if not _PRINTABLE.fullmatch(value):
            raise FaultError(document, (*path, name), "must be one line of plain ASCII")
        allowed = _HEADERS[name]
        if value and allowed and value.lower() not in allowed:
            raise FaultError(document, (*path, name), f"must be {' or '.join(allowed)}")
        if value:
            found.append((name, value))
    return tuple(found)


def _hash(document: Document, name: str, value: Any) -> bytes:
    if ":" in name:
        raise FaultError(
            document, ("basic_auth_users", name), "can never log in: names have no colon there"
        )
    # The value is not shown: somebody who writes a password here has not hashed it yet.
    if not isinstance(value, str) or not _BCRYPT.fullmatch(value):
        raise FaultError(
            document,
            ("basic_auth_users", name),
            "is no bcrypt hash: make one with htpasswd -nBC 10 NAME",
        )
    return value.encode()


def _rate_limit(document: Document) -> RateLimit | None:
    document.only(("rate_limit",), frozenset({"interval", "burst"}))
    interval, burst = ("rate_limit", "interval"), ("rate_limit", "burst")
    text = document.string(interval)
    if text is None:
        raise FaultError(document, interval, "is missing: without it nothing is limited")
    if text in ("0", "0s"):
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise FaultError(document, interval, str(error)) from error
    return RateLimit(seconds, document.integer(burst, at_least=1, default=1))
