"""The command line: flags in the manner of Prometheus, each also as an environment variable."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import click

from exporter import __version__, config, log, service
from exporter.environment import PREFIX, unknown_variable
from exporter.options import (
    DEFAULT_PORT,
    DEFAULT_URL,
    GPU_EXTRAS,
    GPUBackend,
    ListenAddress,
    Options,
    Server,
    default_server_name,
    parse_duration,
    parse_extras,
    parse_listen_address,
    parse_path,
    parse_server_name,
    parse_url,
)
from exporter.parameters import Parsed
from exporter.web_config import WebConfigError, WebConfigFile
from exporter.yaml_document import DocumentError


@click.command(
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "show_default": True,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="Every flag can be given as an environment variable: VLLM_EXPORTER_ and the flag in "
    "capitals with underscores, as in VLLM_EXPORTER_CACHE_WINDOW=10m; blanks separate several "
    "values. Flags win. SIGHUP makes the exporter read --config.file again.",
)
@click.option(
    "--vllm.url",
    "vllm_url",
    type=Parsed("URL", parse_url),
    multiple=True,
    help=f"Root of a vLLM server; may be repeated.  [default: {DEFAULT_URL}]",
    show_default=False,
)
@click.option(
    "--vllm.timeout",
    "vllm_timeout",
    type=Parsed("DURATION", parse_duration),
    default="5s",
    help="Longest wait for a vLLM page; Prometheus' own scrape timeout bounds it too.",
)
@click.option(
    "--server.name",
    "server_name",
    type=Parsed("NAME", parse_server_name),
    multiple=True,
    help="Value of the label server; once for each --vllm.url, in its order.  "
    "[default: host:port of the URL]",
    show_default=False,
)
@click.option(
    "--server.gpus",
    "server_gpus",
    multiple=True,
    metavar="LIST",
    help="GPUs of the server, for vllm:server_gpu_info: indices, UUIDs or a value of "
    "CUDA_VISIBLE_DEVICES; once for each --vllm.url.  [default: all, if there is one server]",
    show_default=False,
)
@click.option(
    "--config.file",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file with servers (name, url, headers, bearer_token_file, ca_file, timeout, gpus) "
    "and with the targets that /probe may fetch (probe: allow: […]).",
)
@click.option(
    "--config.check",
    "config_check",
    is_flag=True,
    help="Check the flags and the files that they name, and exit: 0 if all is well, else 2.",
)
@click.option(
    "--web.listen-address",
    "web_listen_address",
    type=Parsed("ADDRESS", parse_listen_address),
    multiple=True,
    default=[f":{DEFAULT_PORT}"],
    help="Where to serve: :18000, 127.0.0.1:18000 or [::1]:18000; may be repeated.",
)
@click.option(
    "--web.telemetry-path",
    "web_telemetry_path",
    type=Parsed("PATH", parse_path),
    default="/metrics",
    help="Path of the metrics page.",
)
@click.option(
    "--web.config.file",
    "web_config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TLS, basic authentication and rate limit, in the format of Prometheus' exporter-toolkit; "
    "read again when it changes.",
)
@click.option(
    "--web.enable-lifecycle",
    "web_enable_lifecycle",
    is_flag=True,
    help="Let POST /-/reload make the exporter read --config.file again.",
)
@click.option(
    "--web.max-requests",
    "web_max_requests",
    type=click.IntRange(1, 1000),
    default=40,
    help="Most requests that are worked on at once; more are answered 503.",
)
@click.option(
    "--cache.window",
    "cache_window",
    type=Parsed("DURATION", parse_duration),
    default="5m",
    help="Trailing window of the hit rates.",
)
@click.option(
    "--gpu.backend",
    "gpu_backend",
    type=click.Choice(["auto", "nvml", "amd", "simulated", "none"]),
    default="auto",
    help="What reads the GPUs. auto is nvml; amd needs ROCm's amdsmi and has not been tried on a "
    "card yet; simulated shows made-up GPUs and says so.",
)
@click.option(
    "--gpu.collect",
    "gpu_collect",
    type=Parsed("LIST", parse_extras),
    default="",
    help="Readings that cost more than all others together, separated by commas: energy (3 ms a "
    "GPU at each scrape), pcie (40 ms).",
    show_default=False,
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
    vllm_url: tuple[str, ...],
    vllm_timeout: float,
    server_name: tuple[str, ...],
    server_gpus: tuple[str, ...],
    config_file: Path | None,
    config_check: bool,
    web_listen_address: tuple[ListenAddress, ...],
    web_telemetry_path: str,
    web_config_file: Path | None,
    web_enable_lifecycle: bool,
    web_max_requests: int,
    cache_window: float,
    gpu_backend: GPUBackend,
    gpu_collect: frozenset[str],
    gpu_simulated_file: Path | None,
    log_level: str,
    log_format: log.LogFormat,
) -> int:
    """Serve the prefix-cache hit rate of vLLM servers and the memory of this host's GPUs."""
    names = [parameter.name or "" for parameter in command.params]
    if unknown := unknown_variable(os.environ, names):
        raise click.UsageError(unknown)
    if gpu_simulated_file and gpu_backend != "simulated":
        raise click.UsageError("--gpu.simulated-file needs --gpu.backend simulated")
    if gpu_collect - GPU_EXTRAS.get(gpu_backend, frozenset()):
        raise click.UsageError(
            f"--gpu.backend {gpu_backend} cannot read {','.join(sorted(gpu_collect))}: "
            "leave --gpu.collect out"
        )
    servers = _servers(vllm_url or (DEFAULT_URL,), server_name, server_gpus, vllm_timeout)
    log.configure(log_level, log_format)
    options = Options(
        servers=servers,
        config_file=config_file,
        listen_addresses=web_listen_address,
        telemetry_path=web_telemetry_path,
        lifecycle=web_enable_lifecycle,
        max_requests=web_max_requests,
        window_seconds=cache_window,
        timeout_seconds=vllm_timeout,
        gpu_backend=gpu_backend,
        gpu_extras=gpu_collect,
        simulated_file=gpu_simulated_file,
    )
    try:
        configuration = (
            config.load(config_file, servers, vllm_timeout)
            if config_file
            else config.Configuration(servers, None)
        )
        web_config = WebConfigFile(web_config_file) if web_config_file else None
    except (DocumentError, WebConfigError) as error:
        raise click.UsageError(str(error)) from error
    if vllm_url and configuration.servers != servers:
        raise click.UsageError("servers are given by --vllm.url and in --config.file: give one")
    if config_check:
        count = len(configuration.servers)
        click.echo(
            f"in order: {count} {'server' if count == 1 else 'servers'}, probes "
            f"{'on' if configuration.probe else 'off'}"
        )
        return 0
    return service.run(options, configuration, web_config)


def _servers(
    urls: Sequence[str], names: Sequence[str], gpus: Sequence[str], timeout_seconds: float
) -> tuple[Server, ...]:
    for flag, values in (("--server.name", names), ("--server.gpus", gpus)):
        if values and len(values) != len(urls):
            raise click.UsageError(
                f"{len(values)} {flag} for {len(urls)} --vllm.url: give one for each, or none"
            )
    servers = tuple(
        Server(
            name=names[position] if names else default_server_name(url),
            url=url,
            timeout_seconds=timeout_seconds,
            gpus=gpus[position] if gpus else None,
        )
        for position, url in enumerate(urls)
    )
    if len({server.name for server in servers}) < len(servers):
        raise click.UsageError("two servers have one name: give each another --server.name")
    return servers


def main(arguments: list[str] | None = None) -> int:
    """Run the exporter until it is told to stop.

    Returns:
        The exit status: 0 after a stop, 1 if it could not serve, 2 for a wrong flag.
    """
    try:
        result = command.main(arguments, prog_name="python -m exporter", standalone_mode=False)
    except click.ClickException as error:
        message = " ".join(error.format_message().split())
        click.echo(f"vllm-exporter: {message} (see --help)", err=True)
        return error.exit_code
    except click.Abort:
        return 1
    return int(result or 0)
