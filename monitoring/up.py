"""``python -m monitoring up``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from alerts.usage import load_settings, settings_option
from exporter.addresses import redacted
from monitoring import folders, metrics_page, programs
from monitoring.commands import start_display
from monitoring.configuration import Layout
from monitoring.display import Display
from monitoring.gguf import file
from monitoring.options import (
    ChainOptions,
    port_options,
    ports,
    run_folder_option,
    server_options,
)
from monitoring.running import RunningChain, running
from monitoring.supervision.errors import ComponentError, Interrupted

_LOOK_SECONDS = 0.3
_SERVER_SECONDS = 5.0


@click.command("up")
@server_options
@settings_option
@click.option("--simulated-gpu", is_flag=True, help="Show a made-up GPU instead of real ones.")
@port_options
@run_folder_option
def command(
    *,
    vllm_url: str | None,
    model: str | None,
    vllm_python: Path | None,
    tokenizer: Path | None,
    served_model_name: str | None,
    flags: tuple[str, ...],
    settings_file: Path | None,
    simulated_gpu: bool,
    run_dir: Path,
    **arguments: Any,
) -> int:
    """Run the chain until Ctrl-C: vLLM, exporter, Prometheus, Alertmanager, receiver, dashboards.

    Grafana shows the dashboards where it is found, and a preview where it is not.
    """
    if vllm_url and (model or vllm_python):
        raise click.UsageError(
            "--vllm-url is a server that is there already; --model and --vllm-python are for the "
            "bundled one: give either"
        )
    if not model and (tokenizer or served_model_name or flags):
        raise click.UsageError(
            "--tokenizer, --served-model-name and --flag are for the server of --model: give that"
        )
    run_folder = run_dir.absolute()
    listening = ports(arguments, vllm_url)
    settings = load_settings(settings_file)
    gguf = model is not None and file.is_gguf(model)
    options = ChainOptions(
        vllm_url,
        model,
        vllm_python,
        settings_file,
        simulated_gpu,
        listening,
        run_folder,
        tokenizer,
        served_model_name,
        flags,
        model_on_cpu=gguf and not programs.has_gpu(),
    )
    if model and gguf:
        file.check_files(Path(model), tokenizer)
    programs.check(options)
    found = programs.find(options, folders.tools())
    if model and gguf and tokenizer and found.vllm_python:
        gpu = not options.model_on_cpu
        file.check_environment(Path(model), tokenizer, found.vllm_python, gpu=gpu)
    display, interrupt = start_display(Console())
    layout = Layout(run_folder, run_folder / "data")
    try:
        with running("up", options, settings, found, layout, display, interrupt) as running_chain:
            _introduce(running_chain, display)
            while not interrupt.stop.wait(_LOOK_SECONDS):
                running_chain.look_after()
            failed = running_chain.supervisor.failed
    except ComponentError as error:
        display.failure(error)
        return 1
    except Interrupted:
        failed = []
    display.say("Stopped.")
    return 1 if failed else 0


def _doubt(vllm_url: str) -> str:
    """Return why nothing can be read of the server now; empty where it answers."""
    try:
        page = metrics_page.fetch(vllm_url, _SERVER_SECONDS)
    except metrics_page.PageError as error:
        return f"--vllm-url: {error}"
    return "" if "vllm" in page else f"--vllm-url: {redacted(vllm_url)} answers, and is not vLLM"


def _introduce(running_chain: RunningChain, display: Display) -> None:
    """Say what to open."""
    display.say("")
    for page, meaning in running_chain.pages():
        display.say(f"  {page}  {meaning}")
    options = running_chain.options
    if not (options.model or options.vllm_url) and programs.has_gpu():
        display.say("This machine has a GPU: --model NAME serves a real model on it.")
    if remark := running_chain.remark():
        display.say(remark)
    if options.vllm_url and (doubt := _doubt(options.vllm_url)):
        display.trouble(doubt)
        display.say("  The chain goes on asking: figures appear when vLLM answers there.")
    display.say(
        f"Notifications appear here and in {running_chain.layout.notifications}. Ctrl-C stops "
        "everything."
    )
