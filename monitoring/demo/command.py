"""``python -m monitoring demo``."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from alerts.duration import Duration
from alerts.settings import Settings, load
from alerts.usage import load_settings
from exporter.parameters import FilePath
from monitoring import folders, programs, state
from monitoring.commands import start_display
from monitoring.configuration import Layout
from monitoring.demo import outcome
from monitoring.demo.outcome import Outcome
from monitoring.demo.story import Story
from monitoring.display import Display
from monitoring.options import ChainOptions, port_options, ports, run_folder_option
from monitoring.running import RunningChain, running
from monitoring.supervision.errors import ChainError, ComponentError, Interrupted

SETTINGS = Path(__file__).resolve().parent.parent / "demo.yml"

_IDLE_RATE = 1.0  # requests a second after the story: enough to keep the gauge alive


@click.command("demo")
@click.option("--exit", "exit_at_end", is_flag=True, help="Stop after the story.")
@click.option("--crash", is_flag=True, help="Kill vLLM in the middle, to see it come back.")
@click.option(
    "--vllm-python",
    type=FilePath(folder=False),
    help="Python interpreter that has vLLM.",
)
@port_options
@run_folder_option
def command(
    *, exit_at_end: bool, crash: bool, vllm_python: Path | None, run_dir: Path, **arguments: Any
) -> int:
    """Play a story in which both alerts fire and resolve, with real vLLM on the CPU.

    The GPU is simulated. With --exit, the status is 0 only if both alerts fired, were delivered,
    and resolved.
    """
    options = ChainOptions(
        vllm_python=vllm_python,
        settings_file=SETTINGS,
        simulated_gpu=True,
        ports=ports(arguments),
        run_folder=run_dir.absolute(),
    )
    settings = load_settings(SETTINGS)
    found = programs.find(options, folders.tools())
    console = Console()
    display, interrupt = start_display(console)
    display.say("The story runs with shortened times (monitoring/demo.yml):")
    for name, value, default in shortened(settings):
        display.say(f"  {name}: {value} instead of {default}")
    layout = Layout(options.run_folder, options.run_folder / "demo")
    if not state.is_running(options.run_folder):
        # Each story begins with empty stores: an old alert would end up in the new table.
        shutil.rmtree(layout.data, ignore_errors=True)
    outcomes: list[Outcome] = []
    try:
        with running("demo", options, settings, found, layout, display, interrupt) as chain_running:
            story = Story(chain_running, display, interrupt)
            outcomes = story.play(crash=crash)
            console.print()
            console.print(outcome.table(outcomes))
            if not exit_at_end:
                _linger(story, chain_running, display)
    except ComponentError as error:
        display.failure(error)
        return 1
    except Interrupted:
        display.say("Stopped.")
        return 0 if outcomes else 1
    except ChainError as error:
        display.still()
        raise error from None
    display.say("✓ Both alerts fired, were delivered and resolved. Everything is stopped.")
    return 0


def shortened(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value and default of every setting that is not the default."""
    mine, defaults = _flat(settings), _flat(load())
    return [
        (name, value, defaults[name]) for name, value in mine.items() if value != defaults[name]
    ]


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Return every value by the dotted name of its key in a settings file."""
    if isinstance(value, Mapping):
        parts = dict(value)
    elif is_dataclass(value) and not isinstance(value, Duration):
        parts = {
            each.metadata.get("key", each.name): getattr(value, each.name) for each in fields(value)
        }
    else:
        return {name: f"{value:g}" if isinstance(value, float) else str(value)}
    flat: dict[str, str] = {}
    for key, part in parts.items():
        flat |= _flat(part, f"{name}.{key}" if name else str(key))
    return flat


def _linger(story: Story, chain_running: RunningChain, display: Display) -> None:
    """Keep the chain running, with a little traffic, until the user wants to stop."""
    display.still()
    display.say("\nThe chain keeps running, with a little good traffic. Look at", style="bold")
    for page, meaning in chain_running.pages():
        display.say(f"  {page}  {meaning}")
    if remark := chain_running.remark():
        display.say(remark)
    display.say("Ctrl-C stops everything.")
    with story.traffic("shared", rate=_IDLE_RATE):
        while True:
            story.pause(60)
