"""The command line: flags in the manner of Prometheus, each also as an environment variable."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from exporter import __version__, log, service
from exporter.options import (
    DEFAULT_PORT,
    GPUBackend,
    ListenAddress,
    Options,
    default_server_name,
    parse_duration,
    parse_listen_address,
    parse_path,
    parse_url,
)

T = TypeVar("T")

ENVIRONMENT_PREFIX = "VLLM_EXPORTER"


class _Parsed(click.ParamType[Any]):
    """A flag whose text goes through one of the parsers of `exporter.options`."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(
    context_settings={
        "auto_envvar_prefix": ENVIRONMENT_PREFIX,
        "show_default": True,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="Every flag can be given as an environment variable: VLLM_EXPORTER_ and the flag in "
    "capitals with underscores, as in VLLM_EXPORTER_CACHE_WINDOW=10m. Flags win.",
)
@click.option(
    "--vllm.url",
    "vllm_url",
    type=_Parsed("URL", parse_url),
    default="http://127.0.0.1:8000",
    help="Root of the vLLM server.",
)
@click.option(
    "--vllm.timeout",
    "vllm_timeout",
    type=_Parsed("DURATION", parse_duration),
    default="5s",
    help="Longest wait for vLLM's page; Prometheus' own scrape timeout bounds it too.",
)
@click.option(
    "--server.name",
    "server_name",
    default="",
    help="Value of the label server.  [default: host:port of the URL]",
    show_default=False,
)
@click.option(
    "--web.listen-address",
    "web_listen_address",
    type=_Parsed("ADDRESS", parse_listen_address),
    default=f":{DEFAULT_PORT}",
    help="Where to serve: :18000, 127.0.0.1:18000 or [::1]:18000.",
)
@click.option(
    "--web.telemetry-path",
    "web_telemetry_path",
    type=_Parsed("PATH", parse_path),
    default="/metrics",
    help="Path of the metrics page.",
)
@click.option(
    "--cache.window",
    "cache_window",
    type=_Parsed("DURATION", parse_duration),
    default="5m",
    help="Trailing window of the hit rate.",
)
@click.option(
    "--gpu.backend",
    "gpu_backend",
    type=click.Choice(["auto", "nvml", "simulated", "none"]),
    default="auto",
    help="What reads the GPUs. auto is nvml; simulated shows made-up GPUs and says so.",
)
@click.option(
    "--gpu.simulated-file",
    "gpu_simulated_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help='For --gpu.backend simulated: JSON, read anew at each scrape: {"gpus": [{"name": "…", '
    '"total_bytes": 0, "reserved_bytes": 0, "used_bytes": 0}]}.',
)
@click.option(
    "--log.level",
    "log_level",
    type=click.Choice(["debug", "info", "warn", "error"]),
    default="info",
    help="Least severe events to log.",
)
@click.option(
    "--log.format",
    "log_format",
    type=click.Choice(["logfmt", "json"]),
    default="logfmt",
    help="Form of a log line.",
)
@click.version_option(
    __version__, message=f"vllm-exporter, version %(version)s (Python {platform.python_version()})"
)
def command(
    vllm_url: str,
    vllm_timeout: float,
    server_name: str,
    web_listen_address: ListenAddress,
    web_telemetry_path: str,
    cache_window: float,
    gpu_backend: GPUBackend,
    gpu_simulated_file: Path | None,
    log_level: str,
    log_format: log.LogFormat,
) -> int:
    """Serve the prefix-cache hit rate of a vLLM server and the memory of this host's GPUs."""
    if gpu_simulated_file and gpu_backend != "simulated":
        raise click.UsageError("--gpu.simulated-file needs --gpu.backend simulated")
    log.configure(log_level, log_format)
    return service.run(
        Options(
            vllm_url=vllm_url,
            server_name=server_name or default_server_name(vllm_url),
            listen_address=web_listen_address,
            telemetry_path=web_telemetry_path,
            window_seconds=cache_window,
            timeout_seconds=vllm_timeout,
            gpu_backend=gpu_backend,
            simulated_file=gpu_simulated_file,
        )
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the exporter until it is told to stop.

    Returns:
        The exit status: 0 after a stop, 1 if it could not serve, 2 for a wrong flag.
    """
    try:
        result = command.main(arguments, prog_name="python -m exporter", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"vllm-exporter: {error.format_message()} (see --help)", err=True)
        return error.exit_code
    except click.Abort:
        return 1
    return int(result or 0)
