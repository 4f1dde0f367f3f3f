"""What can be set, as values: forms of flags and their checks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from exporter.addresses import ListenAddress

GPUBackend = Literal["auto", "nvml", "amd", "simulated", "none"]

GPU_EXTRAS: dict[str, frozenset[str]] = {
    "auto": frozenset({"energy", "pcie"}),
    "nvml": frozenset({"energy", "pcie"}),
    "amd": frozenset({"energy"}),
}
"""Costly readings that each backend can make."""

DEFAULT_PORT = 18000
DEFAULT_TIMEOUT_SECONDS = 5.0

MAX_SERVERS = 1024
"""Most servers of one exporter: each is asked in a thread of its own."""

OWN_PATHS = {
    "/": "the landing page",
    "/probe": "the page of probes",
    "/-/healthy": "the health check",
    "/-/ready": "the health check",
    "/-/reload": "the reload",
}
"""What answers at other paths than the metrics page's."""

MAX_DURATION_SECONDS = 366 * 86400.0
"""Longest duration that is believed; what waits cannot count to a much longer one."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:[0-9]{1,15}(?:ms|[smhd]))+")
_DURATION_PART = re.compile(r"([0-9]+)(ms|[smhd])")
_MAX_NAME_CHARACTERS = 256


@dataclass(frozen=True)
class Server:
    """One vLLM server.

    Attributes:
        name: Value of the label ``server``.
        url: Its root, or its metrics page.
        headers: Sent with each request; secrets.
        bearer_token_file: Holds the token to log in with; read at each request.
        ca_file: Certificates to believe instead of the system's.
        timeout_seconds: Longest wait for its page.
        gpus: The GPUs it uses: indices, UUIDs, or a value of CUDA_VISIBLE_DEVICES. None where
            that is not known.
    """

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    bearer_token_file: Path | None = None
    ca_file: Path | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    gpus: str | None = None


@dataclass(frozen=True)
class ProbePolicy:
    """Which targets ``/probe`` may fetch, and how.

    Attributes:
        allow: Roots of servers, in which ``*`` stands for any part of a host's name.
        template: What goes for each target beside name and URL.
    """

    allow: tuple[str, ...]
    template: Server


@dataclass(frozen=True)
class Options:
    """All settings of one exporter that stay as they are while it runs.

    Attributes:
        servers: Those given by flags; the file's replace them.
        config_file: Servers and targets of probes, read again on demand.
        listen_addresses: Where the page is served.
        telemetry_path: Path of the page.
        lifecycle: Whether ``POST /-/reload`` is answered.
        max_requests: Most requests that are worked on at once.
        window_seconds: Length of the trailing window of the hit rate.
        timeout_seconds: Longest wait for vLLM's page.
        gpu_backend: What reads the GPUs.
        gpu_extras: Costly readings to make: ``energy``, ``pcie``.
        simulated_file: What the simulated GPUs are, for that backend.
        servers_given: Whether flags say anything of servers, which no file may then name.
    """

    servers: tuple[Server, ...]
    config_file: Path | None
    listen_addresses: tuple[ListenAddress, ...]
    telemetry_path: str
    lifecycle: bool
    max_requests: int
    window_seconds: float
    timeout_seconds: float
    gpu_backend: GPUBackend
    gpu_extras: frozenset[str]
    simulated_file: Path | None
    servers_given: bool = False


def parse_duration(text: str) -> float:
    """Return the seconds of a Prometheus duration (``5m``, ``30s``, ``1h30m``).

    Raises:
        ValueError: The text is no duration or is zero; the message is one line.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no duration: write 30s, 5m or 1h30m")
    seconds = sum(int(n) * _UNITS[unit] for n, unit in _DURATION_PART.findall(text))
    if seconds <= 0:
        raise ValueError(f"{text!r} is no time at all: write 30s, 5m or 1h30m")
    if seconds > MAX_DURATION_SECONDS:
        raise ValueError(f"{text!r} is more than a year: write 30s, 5m or 1h30m")
    return seconds


def parse_server_name(text: str) -> str:
    """Return ``text`` if it can be a value of the label ``server``.

    Raises:
        ValueError: It is empty, has a control character, more than 256 characters, or a blank at
            an end.
    """
    if not 0 < len(text) <= _MAX_NAME_CHARACTERS or not text.isprintable() or text != text.strip():
        raise ValueError(f"{text[:40]!r} is no name for a server: write one line")
    return text


def parse_extras(text: str) -> frozenset[str]:
    """Return the costly readings that a list names, as in ``energy,pcie``.

    Raises:
        ValueError: There is no such reading.
    """
    if not text.strip():
        return frozenset()
    names = frozenset(name.strip() for name in text.split(","))
    known = frozenset().union(*GPU_EXTRAS.values())
    if names - known:
        raise ValueError(
            f"{min(names - known)!r} is not to be had: choose {','.join(sorted(known))}"
        )
    return names


def parse_path(text: str) -> str:
    """Return ``text`` if it can be the path of the metrics page.

    Raises:
        ValueError: It cannot; the message is one line.
    """
    if text in OWN_PATHS:
        raise ValueError(f"{text} is the path of {OWN_PATHS[text]}: write /metrics")
    if text.startswith("/-/"):
        raise ValueError(f"{text!r} is among the paths kept for management: write /metrics")
    parts = text.split("/")
    if not re.fullmatch(r"(/[\w.~-]+)+", text, re.ASCII) or {".", ".."} & set(parts):
        raise ValueError(f"{text!r} is no path for the page: write /metrics")
    return text
