"""``python -m monitoring budget``: will a model fit, before it is started."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from alerts.usage import WrongUsage, load_settings, settings_option
from exporter.gpu import GPUError
from exporter.gpu.nvml import NVMLBackend
from exporter.parameters import Number, Whole
from monitoring.budget import gpu, models, published, sizes, table
from monitoring.budget.architecture import Architecture, ArchitectureError
from monitoring.budget.cache import CACHE_TYPES
from monitoring.budget.formats import FORMATS
from monitoring.budget.memory import MOST_GPUS, OVERHEAD_BYTES, Plan, splits
from monitoring.budget.report import judge


class Size(click.ParamType[int]):
    """A size such as 24GiB, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes; see `sizes.parse`."""
        if isinstance(value, int):
            return value
        try:
            return sizes.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_COUNT = Whole()

DEFAULT_MODEL = "gemma-4-31b"


@click.command("budget")
@click.argument("model", default=DEFAULT_MODEL)
@click.option(
    "--preset",
    type=click.Choice(sorted(published.table())),
    help="Replay a published budget beside the computation, instead.",
)
@click.option("--weights", type=click.Choice(list(FORMATS)), default="bf16", show_default=True)
@click.option("--weights-size", type=Size(), help="Size of the weights, where it is known.")
@click.option("--gpu-memory", type=Size(), help="Size of the GPU; default: ask the driver.")
@click.option("--max-model-len", type=_COUNT, default=4096, show_default=True)
@click.option("--max-num-seqs", type=_COUNT, default=8, show_default=True)
@click.option(
    "--max-num-batched-tokens", type=_COUNT, help="Default: vLLM's for a card of that size."
)
@click.option(
    "--gpu-memory-utilization",
    type=Number(0, 1, above=True),
    default=0.85,
    show_default=True,
)
@click.option("--block-size", type=_COUNT, default=16, show_default=True)
@click.option(
    "--kv-cache-dtype", type=click.Choice(list(CACHE_TYPES)), default="bfloat16", show_default=True
)
@click.option("--tensor-parallel-size", type=Whole(1, MOST_GPUS), default=1, show_default=True)
@click.option("--overhead", type=Size(), default=OVERHEAD_BYTES, help="Default: 1.5GB.")
@settings_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON; sizes are bytes.")
def command(
    model: str, preset: str | None, settings_file: Path | None, *, as_json: bool, **options: Any
) -> None:
    """Compute whether MODEL fits a GPU: weights, KV cache, what is left, the flags to use.

    MODEL is a folder with a config.json, or one of the bundled models (gemma-4-31b and others; a
    wrong name lists them).

    Exit codes: 0 fits; 1 does not; 2 wrong usage; 3 fits, but VLLMGPUMemoryHigh would fire.
    """
    console = Console()
    if preset:
        _only_preset()
        replay = published.replay(preset)
        _answer(asdict(replay), lambda: table.print_replay(console, replay), as_json=as_json)
        return
    threshold = load_settings(settings_file).memory.usage.high
    try:
        architecture = models.find(model)
    except ArchitectureError as error:
        raise WrongUsage(str(error)) from None
    card = _card(options["gpu_memory"])
    _check(architecture, options["max_model_len"], options["tensor_parallel_size"])
    plan = Plan(
        weights=FORMATS[options["weights"]],
        max_model_len=options["max_model_len"],
        max_num_seqs=options["max_num_seqs"],
        max_num_batched_tokens=options["max_num_batched_tokens"]
        or gpu.default_batched_tokens(card.usable),
        gpu_memory_utilization=options["gpu_memory_utilization"],
        block_size=options["block_size"],
        cache_number_bytes=CACHE_TYPES[options["kv_cache_dtype"]],
        tensor_parallel_size=options["tensor_parallel_size"],
        weights_bytes=options["weights_size"],
        overhead_bytes=options["overhead"],
    )
    report = judge(architecture, plan, card.usable, card.name, threshold)
    _answer(report.as_data(), lambda: table.print_report(console, report), as_json=as_json)
    sys.exit(report.exit_code)


def _answer(data: Any, show: Callable[[], None], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(data, indent=2))
    else:
        show()


def _card(given: int | None) -> gpu.Card:
    if given:
        return gpu.given(given)
    try:
        return gpu.asked(NVMLBackend())
    except GPUError as error:
        raise WrongUsage(
            f"no GPU to ask ({error}); give its size, such as --gpu-memory 24GiB"
        ) from None


def _check(model: Architecture, tokens: int, parts: int) -> None:
    if model.max_tokens and tokens > model.max_tokens:
        raise WrongUsage(
            f"--max-model-len {tokens} is more than the {model.max_tokens} tokens that the model "
            "was made for"
        )
    possible = splits(model)
    if parts not in possible:
        choices = ", ".join(str(each) for each in possible)
        raise WrongUsage(
            f"--tensor-parallel-size {parts} does not divide the model's {model.query_heads} heads "
            f"evenly, and vLLM would refuse it: one of {choices}"
        )


def _only_preset() -> None:
    """Refuse what a replay takes no notice of."""
    context = click.get_current_context()
    ignored = [
        parameter.opts[0] if isinstance(parameter, click.Option) else "MODEL"
        for parameter in context.command.params
        if parameter.name not in ("preset", "as_json")
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    if ignored:
        raise WrongUsage(
            f"--preset replays a published budget as it is: leave {', '.join(ignored)} away, or "
            "leave --preset away"
        )
