"""The flags of the exporter: names, forms of values, defaults and what ``--help`` says."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from exporter import __version__
from exporter.addresses import DEFAULT_URL, parse_listen_address, parse_url
from exporter.assignment import parse_selection
from exporter.options import (
    DEFAULT_PORT,
    parse_duration,
    parse_extras,
    parse_path,
    parse_server_name,
)
from exporter.parameters import Parsed

F = TypeVar("F", bound=Callable[..., Any])


def flags(function: F) -> F:
    """Decorate a function with all flags, which give it an argument each."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _option(name: str, **attributes: Any) -> Callable[[F], F]:
    """Return a flag; its argument has the flag's name with underscores."""
    return click.option(f"--{name}", re.sub("[.-]", "_", name), **attributes)


_FILE = click.Path(dir_okay=False, path_type=Path)

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    _option(
        "vllm.url",
        type=Parsed("URL", parse_url),
        multiple=True,
        help=f"Root of a vLLM server; may be repeated.  [default: {DEFAULT_URL}]",
        show_default=False,
    ),
    _option(
        "vllm.timeout",
        type=Parsed("DURATION", parse_duration),
        default="5s",
        help="Longest wait for a vLLM page; Prometheus' own scrape timeout bounds it too.",
    ),
    _option(
        "server.name",
        type=Parsed("NAME", parse_server_name),
        multiple=True,
        help="Value of the label server; once for each --vllm.url, in its order.  "
        "[default: host:port of the URL]",
        show_default=False,
    ),
    _option(
        "server.gpus",
        type=Parsed("LIST", parse_selection),
        multiple=True,
        help="GPUs of the server, for vllm:server_gpu_info: indices, UUIDs or a value of "
        "CUDA_VISIBLE_DEVICES; once for each --vllm.url.  [default: all, if there is one server]",
        show_default=False,
    ),
    _option(
        "config.file",
        type=_FILE,
        help="YAML file with servers (name, url, headers, bearer_token_file, ca_file, timeout, "
        "gpus) and with the targets that /probe may fetch (probe: allow: […]).",
    ),
    _option(
        "config.check",
        is_flag=True,
        help="Check the flags and the files that they name, and exit: 0 if all is well, else 2.",
    ),
    _option(
        "web.listen-address",
        type=Parsed("ADDRESS", parse_listen_address),
        multiple=True,
        default=[f":{DEFAULT_PORT}"],
        help="Where to serve: :18000, 127.0.0.1:18000 or [::1]:18000; may be repeated.",
    ),
    _option(
        "web.telemetry-path",
        type=Parsed("PATH", parse_path),
        default="/metrics",
        help="Path of the metrics page.",
    ),
    _option(
        "web.config.file",
        type=_FILE,
        help="TLS, basic authentication and rate limit, in the format of Prometheus' "
        "exporter-toolkit; read again when it changes.",
    ),
    _option(
        "web.enable-lifecycle",
        is_flag=True,
        help="Let POST /-/reload make the exporter read --config.file again.",
    ),
    _option(
        "web.max-requests",
        type=click.IntRange(1, 1000),
        default=40,
        help="Most requests that are worked on at once; more are answered 503.",
    ),
    _option(
        "cache.window",
        type=Parsed("DURATION", parse_duration),
        default="5m",
        help="Trailing window of the hit rates.",
    ),
    _option(
        "gpu.backend",
        type=click.Choice(["auto", "nvml", "amd", "simulated", "none"]),
        default="auto",
        help="What reads the GPUs. auto is nvml; amd needs ROCm's amdsmi and has not been tried "
        "on a card yet; simulated shows made-up GPUs and says so.",
    ),
    _option(
        "gpu.collect",
        type=Parsed("LIST", parse_extras),
        default="",
        help="Readings that cost more than all others together, separated by commas: energy (3 ms "
        "a GPU at each scrape), pcie (40 ms).",
        show_default=False,
    ),
    _option(
        "gpu.simulated-file",
        type=_FILE,
        help='For --gpu.backend simulated: JSON, read anew at each scrape: {"gpus": [{"name": "…", '
        '"total_bytes": 0, "reserved_bytes": 0, "used_bytes": 0}]}.',
    ),
    _option(
        "log.level",
        type=click.Choice(["debug", "info", "warn", "error"]),
        default="info",
        help="Least severe events to log.",
    ),
    _option(
        "log.format",
        type=click.Choice(["logfmt", "json"]),
        default="logfmt",
        help="Form of a log line.",
    ),
    click.version_option(
        __version__,
        # Images like to carry a version in a variable of just this name.
        allow_from_autoenv=False,
        message=f"vllm-exporter, version %(version)s (Python {platform.python_version()})",
    ),
)
