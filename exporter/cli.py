"""The command: flags checked against each other, files read, and the exporter started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
import structlog

from exporter import advice, config, log, service
from exporter.addresses import DEFAULT_URL, ListenAddress, default_server_name
from exporter.environment import PREFIX, unknown_variable
from exporter.flags import flags
from exporter.gpu import GPUError, simulated
from exporter.options import GPU_EXTRAS, MAX_SERVERS, GPUBackend, Options, Server
from exporter.web_config import WebConfigError, WebConfigFile
from exporter.yaml_document import DocumentError

logger = structlog.get_logger()


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
@flags
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
    names = [flag.name or "" for flag in command.params if getattr(flag, "allow_from_autoenv", 0)]
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
        servers_given=bool(vllm_url or server_name or server_gpus),
    )
    configuration, web_config = _read(options, web_config_file)
    for line in (
        *advice.on_window(cache_window),
        *advice.on_flags(servers),
        *advice.on_servers(configuration.servers),
    ):
        logger.warning(line)
    if config_check:
        count = len(configuration.servers)
        click.echo(
            f"in order: {count} {'server' if count == 1 else 'servers'}, probes "
            f"{'on' if configuration.probe else 'off'}"
        )
        return 0
    return service.run(options, configuration, web_config)


def _read(
    options: Options, web_config_file: Path | None
) -> tuple[config.Configuration, WebConfigFile | None]:
    """Read all files that flags name, whether to check them or to start.

    Raises:
        click.UsageError: One cannot be used.
    """
    try:
        configuration = config.of(options)
        web_config = WebConfigFile(web_config_file) if web_config_file else None
        if options.simulated_file:
            simulated.load(options.simulated_file)
    except (DocumentError, WebConfigError, GPUError) as error:
        raise click.UsageError(str(error)) from error
    return configuration, web_config


def _servers(
    urls: Sequence[str], names: Sequence[str], gpus: Sequence[str], timeout_seconds: float
) -> tuple[Server, ...]:
    for flag, values in (("--server.name", names), ("--server.gpus", gpus)):
        if values and len(values) != len(urls):
            raise click.UsageError(
                f"{len(values)} {flag} for {len(urls)} --vllm.url: give one for each, or none"
            )
    if len(urls) > MAX_SERVERS:
        raise click.UsageError(f"{len(urls)} --vllm.url: one exporter takes {MAX_SERVERS} at most")
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
