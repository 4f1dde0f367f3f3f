"""The three forms of the benchmark, from start to report."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from exporter.addresses import redacted
from monitoring.bench import measurement, table
from monitoring.bench.comparison import compared
from monitoring.bench.generator import LoadGenerator
from monitoring.bench.measurement import Point, measure
from monitoring.bench.report import DATA, Report, write
from monitoring.bench.scenario import PROMPTS, Prompts, Scenario, Target
from monitoring.bench.servers import ServerPlan, exporter, running, vllm
from monitoring.bench.settings import LoadOptions
from monitoring.smoke.client import Client, RequestError

ON, OFF = "caching on", "caching off"
VLLM = "vllm"
"""What vLLM says owns its models."""

REQUEST_SECONDS = 30.0

_FORMS: dict[Prompts, str] = {
    "text": "as text, which the server tokenizes",
    "tokens": "as token IDs",
}

Step = Callable[[str], None]


def target(url: str, model: str | None, tokenizer: str | None) -> Target:
    """Return what to load, asking the server for what was not given.

    Raises:
        ClickException: The server does not answer, or says nothing of its tokenizer.
    """
    try:
        found = Client(url, REQUEST_SECONDS).get_object("/v1/models").get("data")
    except RequestError as error:
        raise click.ClickException(f"{error}: start the server or correct the URL") from None
    entries = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    entry = next((each for each in entries if model in (None, each.get("id"))), None)
    if entry is None:
        names = ", ".join(str(each.get("id")) for each in entries) or "none"
        raise click.ClickException(f"{model or 'a model'} is not served there; served: {names}")
    found = tokenizer or entry.get("root")
    if not found:
        raise click.ClickException(
            "the server does not say where its model's tokenizer is: give --tokenizer"
        )
    return Target(url, str(entry["id"]), str(found), entry.get("owned_by") == VLLM)


def one_server(load: LoadOptions, where: Target, exporter_url: str | None) -> None:
    """Measure a running server: shared prefixes against unique ones."""
    loads = load.plan([False, True])
    steps = measurement.steps(loads, load.repeats)
    with _progress(steps) as step, LoadGenerator(load.python) as generator:
        points = _measured(generator, load, where, loads, where.model, exporter_url, step)
    facts = _facts(load) | {"server": redacted(where.url), "model": where.model}
    _finish(load, Report("Shared prefixes against unique ones", facts, points, compared(points)))


def on_and_off(load: LoadOptions, plan: ServerPlan) -> None:
    """Measure a server with prefix caching, then the same without."""
    loads = load.plan([True])
    settings: dict[str, tuple[str, ...]] = {
        OFF: ("--no-enable-prefix-caching",),
        ON: ("--enable-prefix-caching",),
    }
    points = _on_servers(load, plan, loads, settings)
    report = Report(
        "Prefix caching on against off", _server_facts(load, plan), points, compared(points, OFF)
    )
    _finish(load, report)


def sweep(
    load: LoadOptions, plan: ServerPlan, block_sizes: Sequence[int], sequences: Sequence[int]
) -> None:
    """Measure a server for each combination of flags."""
    axes = [
        [f"--block-size={size}" for size in sorted(set(block_sizes))],
        [f"--max-num-seqs={count}" for count in sorted(set(sequences))],
    ]
    combinations = itertools.product(*(axis for axis in axes if axis))
    settings = {" ".join(flags): flags for flags in combinations}
    points = _on_servers(load, plan, load.plan([True]), settings)
    title = "Block size and sequences at once"
    _finish(load, Report(title, _server_facts(load, plan), points, [], sweep=True))


def _on_servers(
    load: LoadOptions,
    plan: ServerPlan,
    loads: list[Scenario],
    settings: dict[str, tuple[str, ...]],
) -> list[Point]:
    """Measure the same loads, with the same prompts, on one server after the other."""
    points: list[Point] = []
    logs = load.output / "logs"
    total = len(settings) * (1 + measurement.steps(loads, load.repeats))
    with (
        _progress(total) as step,
        # One generator for all servers: importing vLLM takes long.
        LoadGenerator(load.python) as generator,
    ):
        for setting, flags in settings.items():
            step(f"{setting}: starting the server")
            with ExitStack() as stack:
                url = stack.enter_context(running(vllm(plan, flags), logs))
                gauges = stack.enter_context(running(exporter(plan), logs))
                where = target(url, None, None)
                points += _measured(generator, load, where, loads, setting, gauges, step)
    return points


def _measured(
    generator: LoadGenerator,
    load: LoadOptions,
    where: Target,
    loads: list[Scenario],
    setting: str,
    exporter_url: str | None,
    step: Step,
) -> list[Point]:
    return measure(
        generator,
        where,
        loads,
        setting=setting,
        repeats=load.repeats,
        seed=load.seed,
        exporter_url=exporter_url,
        progress=step,
    )


def _facts(load: LoadOptions) -> dict[str, str]:
    loads = load.plan([True])
    first = loads[0]
    forms = [form for form in PROMPTS if any(each.prompts == form for each in loads)]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "load": f"{first.new_tokens} new tokens after the prefix, {first.output_tokens} generated, "
        f"{load.repeats} repeats of at least {first.requests} requests, seed {load.seed}",
        "load generator": "vllm bench serve, prompts of its dataset prefix_repetition",
        "prompts": " and, in turn, ".join(_FORMS[form] for form in forms),
        "client machine": f"{platform.system()} {platform.machine()}",
    }


def _server_facts(load: LoadOptions, plan: ServerPlan) -> dict[str, str]:
    flags = " ".join(plan.flags) or "none besides the kit's own"
    model = plan.model or "tiny Gemma 4 of random weights, on the CPU"
    return _facts(load) | {"model": model, "further flags": flags}


def _finish(load: LoadOptions, report: Report) -> None:
    try:
        paths = write(report, load.output)
    except OSError as error:
        raise click.ClickException(f"{load.output} cannot be written: {error.strerror}") from None
    if load.as_json:
        click.echo((load.output / DATA).read_text(encoding="utf-8"), nl=False)
        return
    console = Console()
    console.print(table.results(report))
    console.print(table.agreement(report))
    written = ", ".join(str(_short(path)) for path in paths)
    console.print(f"Written: {written}", soft_wrap=True, markup=False)


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@contextmanager
def _progress(total: int) -> Iterator[Step]:
    """Show how far it is; yields a function that is told each step as it begins."""
    columns = (BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    display = Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True))
    with display:
        task = display.add_task("importing vLLM", total=total)

        def step(text: str) -> None:
            if display.tasks[0].description != "importing vLLM":
                display.advance(task)
            display.update(task, description=text)

        yield step
        display.update(task, completed=total, description="done")
