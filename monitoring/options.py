"""What the commands that run the chain can be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from exporter.parameters import URL, FilePath, NonEmpty, Whole
from monitoring import folders

HOST = "127.0.0.1"
"""The chain listens on this machine alone: none of its programs asks for a password."""

_LOOPBACK = (HOST, "localhost")

_LISTENERS = {"grafana": "grafana, or of the preview in its place,"}

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Ports:
    """The ports of the chain, all on `HOST`."""

    vllm: int = 8000
    exporter: int = 18000
    prometheus: int = 19090
    alertmanager: int = 19093
    receiver: int = 19095
    relay: int = 19096
    grafana: int = 13000


@dataclass(frozen=True)
class ChainOptions:
    """What to run, and where.

    Attributes:
        vllm_url: Root of a server that is there already; None: the bundled one.
        model: Model of the bundled server on a GPU; None: the tiny one, on the CPU.
        vllm_python: Interpreter that has vLLM; None: looked for.
        settings_file: File merged over the settings' defaults.
        simulated_gpu: Whether the exporter shows a made-up GPU.
        ports: Where the programs listen.
        run_folder: Folder of state, logs and data.
        tokenizer: Folder of the model's tokenizer and configuration; needed for a GGUF file.
        served_name: What requests call the model; None: its own name.
        flags: Further arguments for the model's server.
        model_on_cpu: Whether the model, a GGUF file, is served on the CPU for want of a GPU.
    """

    vllm_url: str | None = None
    model: str | None = None
    vllm_python: Path | None = None
    settings_file: Path | None = None
    simulated_gpu: bool = False
    ports: Ports = Ports()
    run_folder: Path = Path(".run")
    tokenizer: Path | None = None
    served_name: str | None = None
    flags: tuple[str, ...] = ()
    model_on_cpu: bool = False


def run_folder_option(command: F) -> F:
    """Add ``--run-dir``."""
    return click.option(
        "--run-dir",
        type=FilePath(file=False),
        default=folders.run,
        show_default=".run",
        help="Folder of the chain's state, logs and data.",
    )(command)


def port_options(command: F) -> F:
    """Add one flag for each port."""
    defaults = Ports()
    for name in ("grafana", "relay", "receiver", "alertmanager", "prometheus", "exporter", "vllm"):
        command = click.option(
            f"--{name}-port",
            type=Whole(1, 65535),
            default=getattr(defaults, name),
            show_default=True,
            metavar="PORT",
            help=f"Port of {_LISTENERS.get(name, name)} on {HOST}.",
        )(command)
    return command


def server_options(command: F) -> F:
    """Add what chooses the vLLM server that is monitored."""
    for option in (
        click.option(
            "--vllm-python",
            type=FilePath(folder=False),
            help="Python interpreter that has vLLM, for the bundled server.",
        ),
        click.option(
            "--flag",
            "flags",
            multiple=True,
            metavar="FLAG",
            help="Further argument for the server of --model, such as "
            "--flag=--max-model-len=8192. Wins over the kit's. Repeatable.",
        ),
        click.option(
            "--served-model-name",
            metavar="NAME",
            help="What requests call --model.",
        ),
        click.option(
            "--tokenizer",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="FOLDER",
            help="Configuration and tokenizer of --model; needed for a GGUF file.",
        ),
        click.option(
            "--model",
            type=NonEmpty(),
            metavar="NAME",
            help="Model that the bundled server serves on this machine's GPU: a name on the hub, "
            "a folder, or a GGUF file. Without it: a tiny Gemma 4 of random weights, on the CPU.",
        ),
        click.option(
            "--vllm-url",
            type=URL(),
            metavar="URL",
            help="Monitor the server at this URL instead of starting the bundled one.",
        ),
    ):
        command = option(command)
    return command


def ports(arguments: dict[str, Any], vllm_url: str | None = None) -> Ports:
    """Take the ports out of a command's arguments.

    Args:
        arguments: Of the command; the ports are removed.
        vllm_url: The server that is monitored; None where it is the chain's own.

    Raises:
        UsageError: Two programs would have one port.
    """
    flags = {f"--{name}-port": arguments.pop(f"{name}_port") for name in Ports.__dataclass_fields__}
    taken = Ports(*flags.values())
    if vllm_url is not None:
        del flags["--vllm-port"]
        parts = urlsplit(vllm_url)
        if parts.hostname in _LOOPBACK and parts.port is not None:
            flags["--vllm-url"] = parts.port
    distinct(flags)
    return taken


def distinct(flags: Mapping[str, int]) -> None:
    """Raise UsageError if two flags name the same port."""
    by_port: dict[int, str] = {}
    for flag, port in flags.items():
        if port in by_port:
            raise click.UsageError(
                f"{by_port[port]} and {flag} are both port {port}: give each its own"
            )
        by_port[port] = flag
