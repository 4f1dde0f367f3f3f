"""What can be set, as values: forms of flags and their checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

GPUBackend = Literal["auto", "nvml", "simulated", "none"]

DEFAULT_PORT = 18000

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:ms|[smhd]))+")
_DURATION_PART = re.compile(r"(\d+)(ms|[smhd])")
_LISTEN_ADDRESS = re.compile(
    r"(?:\[(?P<v6>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^:\[\]/]*)):(?P<port>\d+)"
)
_MAX_PORT = 65535


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen; an empty host is every address, IPv6 and IPv4."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return the form of the flag."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class Options:
    """All settings of one exporter.

    Attributes:
        vllm_url: Root of the vLLM server.
        server_name: Value of the label ``server``.
        listen_address: Where the page is served.
        telemetry_path: Path of the page.
        window_seconds: Length of the trailing window of the hit rate.
        timeout_seconds: Longest wait for vLLM's page.
        gpu_backend: What reads the GPUs.
        simulated_file: What the simulated GPUs are, for that backend.
    """

    vllm_url: str
    server_name: str
    listen_address: ListenAddress
    telemetry_path: str
    window_seconds: float
    timeout_seconds: float
    gpu_backend: GPUBackend
    simulated_file: Path | None


def parse_duration(text: str) -> float:
    """Return the seconds of a Prometheus duration (``5m``, ``30s``, ``1h30m``).

    Raises:
        ValueError: The text is no duration or is zero; the message is one line.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is no duration: write 30s, 5m or 1h30m")
    seconds = sum(int(n) * _UNITS[unit] for n, unit in _DURATION_PART.findall(text))
    if seconds <= 0:
        raise ValueError(f"{text!r} is no time at all: write 30s, 5m or 1h30m")
    return seconds


def parse_listen_address(text: str) -> ListenAddress:
    """Return the address of ``:18000``, ``127.0.0.1:18000`` or ``[::1]:18000``.

    Raises:
        ValueError: The text is none of these; the message is one line.
    """
    match = re.fullmatch(
        r"(?:\[(?P<v6>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^:\[\]/]*)):(?P<port>\d+)", text
    )
    if not match:
        raise ValueError(f"{text!r} is no address: write :18000, 127.0.0.1:18000 or [::1]:18000")
    port = int(match["port"])
    if not 0 < port <= _MAX_PORT:
        raise ValueError(f"port {port} is not between 1 and {_MAX_PORT}")
    return ListenAddress(match["v6"] or match["host"], port)


def parse_url(text: str) -> str:
    """Return ``text`` without a trailing slash if it is an http or https URL with a host.

    Raises:
        ValueError: It is not; the message is one line.
    """
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"{text!r} is no URL of a server: write http://127.0.0.1:8000")
    return text.rstrip("/")


def parse_path(text: str) -> str:
    """Return ``text`` if it can be the path of the metrics page.

    Raises:
        ValueError: It cannot; the message is one line.
    """
    if not re.fullmatch(r"(/[\w.~-]+)+", text) or text.startswith("/-/"):
        raise ValueError(f"{text!r} is no path for the page: write /metrics")
    return text


def default_server_name(url: str) -> str:
    """Return host:port of ``url``, without a user name or password that it may hold."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{host}:{port}"
