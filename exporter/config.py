"""The configuration file: several servers, and the targets that may be probed.

.. code-block:: yaml

    servers:
      - name: chat                      # label server; host:port of the URL without it
        url: http://10.0.0.5:8000
        headers: {X-Scope-OrgID: chat}
        bearer_token_file: token        # relative to this file; read at each request
        ca_file: ca.pem
        timeout: 5s
        gpus: "0,1"                     # indices, UUIDs or a value of CUDA_VISIBLE_DEVICES
    probe:
      allow: ["http://10.0.1.*:8000"]   # what /probe?target= may fetch; off without it
      timeout: 5s                       # headers, bearer_token_file, ca_file as above
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from exporter.addresses import default_server_name, parse_url
from exporter.assignment import parse_selection
from exporter.fetcher import tls_context
from exporter.files import MAX_CERTIFICATES_MIB, read_file
from exporter.options import (
    MAX_SERVERS,
    Options,
    ProbePolicy,
    Server,
    parse_duration,
    parse_server_name,
)
from exporter.yaml_document import Document, DocumentError, FaultError, KeyPath, read_document

T = TypeVar("T")

_FETCH_KEYS = frozenset({"headers", "bearer_token_file", "ca_file", "timeout"})
_SERVER_KEYS = _FETCH_KEYS | {"name", "url", "gpus"}
_PROBE_KEYS = _FETCH_KEYS | {"allow"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True)
class Configuration:
    """What the file says.

    Attributes:
        servers: The servers to watch.
        probe: None if nothing may be probed.
    """

    servers: tuple[Server, ...]
    probe: ProbePolicy | None


def of(options: Options) -> Configuration:
    """Return what flags and the file that they name say together.

    Raises:
        DocumentError: See `load`; or the file names servers and flags do so too.
    """
    if options.config_file is None:
        return Configuration(options.servers, None)
    configuration = load(options.config_file, options.servers, options.timeout_seconds)
    if options.servers_given and configuration.servers != options.servers:
        raise DocumentError(
            f"{options.config_file}: names servers, and --vllm.url, --server.name or --server.gpus "
            "does so too: give one"
        )
    return configuration


def load(path: Path, fallback: tuple[Server, ...], timeout_seconds: float) -> Configuration:
    """Return the configuration in ``path``.

    Args:
        path: The file.
        fallback: The servers if the file does not name any; ``servers: []`` names none.
        timeout_seconds: For servers that have no ``timeout``.

    Raises:
        DocumentError: The file, or one that it names, cannot be used; one line with line and key.
    """
    document = read_document(path)
    if not document.mapping(()):
        # While a file is written anew it is empty for a moment, which names no other servers.
        raise FaultError(document, (), "the file names neither servers nor probe")
    document.only((), frozenset({"servers", "probe"}))
    files = _Files(document, path.parent, timeout_seconds)
    entries = document.value(("servers",))
    if entries is None:
        servers = fallback
    elif isinstance(entries, list) and len(entries) > MAX_SERVERS:
        problem = f"has {len(entries)} entries: one exporter takes {MAX_SERVERS} at most"
        raise FaultError(document, ("servers",), problem)
    elif isinstance(entries, list):
        servers = tuple(files.server(("servers", position)) for position in range(len(entries)))
    else:
        raise FaultError(document, ("servers",), "must be a list: begin each server with a dash")
    names: set[str] = set()
    for position, server in enumerate(servers):
        if server.name in names:
            where: KeyPath = ("servers", position)
            raise FaultError(document, where, f"has the name {server.name!r} of another server")
        names.add(server.name)
    return Configuration(servers, files.probe() if document.value(("probe",)) is not None else None)


class _Files:
    """Reads the parts of one document."""

    def __init__(self, document: Document, base: Path, timeout_seconds: float) -> None:
        self._document = document
        self._base = base
        self._timeout_seconds = timeout_seconds

    def server(self, path: KeyPath) -> Server:
        document = self._document
        document.mapping(path)
        document.only(path, _SERVER_KEYS)
        url = self._parsed((*path, "url"), parse_url)
        if url is None:
            raise FaultError(document, path, "has no url")
        name = self._parsed((*path, "name"), parse_server_name)
        return self._fetched(path, name or default_server_name(url), url, self._gpus(path))

    def probe(self) -> ProbePolicy:
        document = self._document
        path: KeyPath = ("probe",)
        document.only(path, _PROBE_KEYS)
        allow = document.strings((*path, "allow"))
        if not allow:
            raise FaultError(document, path, "has no allow: list the targets that may be fetched")
        for position, pattern in enumerate(allow):
            where = (*path, "allow", position)
            try:
                url = urlsplit(parse_url(pattern.replace("*", "x")))
            except ValueError as error:
                raise FaultError(document, where, f"is wrong: {error}") from error
            if "*" in urlsplit(pattern).path:
                raise FaultError(document, where, "is wrong: a star stands for part of a host only")
            if url.username is not None or url.query:
                raise FaultError(
                    document, where, "is wrong: a target has no login and no query of its own"
                )
        template = self._fetched(path, "probe", "https://localhost", None)
        return ProbePolicy(tuple(pattern.rstrip("/") for pattern in allow), template)

    def _fetched(self, path: KeyPath, name: str, url: str, gpus: str | None) -> Server:
        """Return the server with the keys that say how to fetch from it."""
        headers = self._headers(path)
        token = self._file((*path, "bearer_token_file"))
        if token and any(header.lower() == "authorization" for header, _ in headers):
            raise FaultError(
                self._document, (*path, "bearer_token_file"), "and a header Authorization: give one"
            )
        login = token or any(header.lower() == "authorization" for header, _ in headers)
        if login and urlsplit(url).username is not None:
            raise FaultError(
                self._document,
                (*path, "url"),
                "has a user name, and there is another login: give one",
            )
        server = Server(
            name=name,
            url=url,
            headers=headers,
            bearer_token_file=token,
            ca_file=self._file((*path, "ca_file")),
            timeout_seconds=self._parsed((*path, "timeout"), parse_duration)
            or self._timeout_seconds,
            gpus=gpus,
        )
        if server.ca_file:
            try:
                tls_context(server.ca_file)
            except (OSError, ssl.SSLError) as error:
                raise FaultError(
                    self._document, (*path, "ca_file"), "holds no certificate"
                ) from error
        return server

    def _parsed(self, path: KeyPath, parse: Callable[[str], T]) -> T | None:
        text = self._document.string(path)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise FaultError(self._document, path, f"is wrong: {error}") from error

    def _file(self, path: KeyPath) -> Path | None:
        text = self._document.string(path)
        if text is None:
            return None
        file = self._base / text
        try:
            read_file(file, MAX_CERTIFICATES_MIB)
        except OSError as error:
            raise FaultError(
                self._document, path, f"cannot be read: {file} ({error.strerror})"
            ) from error
        return file

    def _headers(self, path: KeyPath) -> tuple[tuple[str, str], ...]:
        where = (*path, "headers")
        headers: list[tuple[str, str]] = []
        for name in self._document.mapping(where):
            value = self._document.string((*where, name))
            # The value is left out of the message: it may be a secret.
            if not _HEADER_NAME.fullmatch(name) or name.lower() in ("host", "content-length"):
                raise FaultError(self._document, (*where, name), "is no name of a header to send")
            if value is None or not _HEADER_VALUE.fullmatch(value):
                raise FaultError(self._document, (*where, name), "must be one line of text")
            if name.lower() in (other.lower() for other, _ in headers):
                raise FaultError(self._document, (*where, name), "is there twice")
            headers.append((name, value))
        return tuple(headers)

    def _gpus(self, path: KeyPath) -> str | None:
        where = (*path, "gpus")
        value = self._document.value(where)
        if value is None or isinstance(value, str):
            return self._parsed(where, parse_selection)
        entries = value if isinstance(value, list) else [value]
        if not all(
            isinstance(e, int | str) and not isinstance(e, bool) and e != "" for e in entries
        ):
            raise FaultError(
                self._document, where, 'must be indices or UUIDs of GPUs: write [0, 1] or "0,1"'
            )
        try:
            return parse_selection(",".join(str(entry) for entry in entries))
        except ValueError as error:
            raise FaultError(self._document, where, f"is wrong: {error}") from error
