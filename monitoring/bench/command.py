"""``python -m monitoring bench``: what prefix caching brings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from alerts.usage import WrongUsage
from exporter.parameters import URL, FilePath, NonEmpty, Whole
from monitoring import folders
from monitoring.bench import session, settings
from monitoring.bench.scenario import PROMPTS, plan
from monitoring.bench.servers import ServerPlan
from monitoring.bench.settings import LoadOptions
from monitoring.options import distinct
from monitoring.vllm import interpreter

_TOKENS = Whole(1, 1_000_000)
_REQUESTS = Whole(1, 100_000)
_PORT = Whole(1, 65535)


@click.group("bench")
def command() -> None:
    """Measure what prefix caching brings: time to first token, tokens per second, hit rate.

    The load is made by `vllm bench serve`, so a Python with vLLM is needed here, wherever the
    server runs.
    """


def _load_options(function: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--prefix", "prefixes", type=_TOKENS, multiple=True, help="Tokens; repeatable."
        ),
        click.option(
            "--concurrency", "concurrencies", type=_REQUESTS, multiple=True, help="Repeatable."
        ),
        click.option(
            "--prompts",
            type=click.Choice(PROMPTS),
            multiple=True,
            default=("text",),
            show_default=True,
            help="Sent as text or as token IDs, which the server need not tokenize; repeatable.",
        ),
        click.option("--new-tokens", type=_TOKENS, default=32, show_default=True),
        click.option("--output-tokens", type=_TOKENS, default=16, show_default=True),
        click.option(
            "--requests",
            type=_REQUESTS,
            default=20,
            show_default=True,
            help="Of each measurement; at least twice the concurrency.",
        ),
        click.option("--repeats", type=_REQUESTS, default=3, show_default=True),
        click.option("--seed", type=Whole(0), help="Makes the prompts."),
        click.option(
            "--python",
            type=FilePath(folder=False),
            help="A Python that has vLLM; default: that of the bundled server.",
        ),
        click.option(
            "--output",
            type=FilePath(file=False),
            help="Folder of the report; default: .run/bench.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _server_options(function: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--model",
            type=NonEmpty(),
            help="Model for this machine's GPU; default: the tiny one on the CPU.",
        ),
        click.option(
            "--flag", "flags", multiple=True, help='Further argument of vLLM; repeatable ("--x=y").'
        ),
        click.option("--port", type=_PORT, default=8010, show_default=True),
        click.option("--exporter-port", type=_PORT, default=18010, show_default=True),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@command.command("server")
@click.argument("url", type=URL(), default="http://127.0.0.1:8000")
@click.option("--model", type=NonEmpty(), help="Which model; default: the first that is served.")
@click.option(
    "--tokenizer",
    type=NonEmpty(),
    help="Folder or name; default: what the server says of its model.",
)
@click.option("--exporter-url", type=URL(), help="Read the chain's gauges there meanwhile.")
@_load_options
def server(
    url: str,
    model: str | None,
    tokenizer: str | None,
    exporter_url: str | None,
    **options: Any,
) -> None:
    """Measure the running server at URL: shared prefixes against unique ones.

    Any OpenAI-compatible server will do, llama.cpp for one; --tokenizer is needed for one that is
    not vLLM. Hit rate and histograms come from vLLM's metrics, where there are any.
    """
    load = _options(options, prefixes=(512, 2048), concurrencies=(1, 8))
    target = session.target(url, model, tokenizer)
    session.one_server(load, target, exporter_url)


@command.command("on-off")
@_server_options
@_load_options
def on_off(**options: Any) -> None:
    """Measure a server with prefix caching, then the same without: starts both, one by one."""
    load = _options(options, prefixes=(512, 2048), concurrencies=(1, 8))
    session.on_and_off(load, _server_plan(options, load))


@command.command("sweep")
@click.option("--block-size", "block_sizes", type=_TOKENS, multiple=True, help="Repeatable.")
@click.option("--max-num-seqs", "sequences", type=_REQUESTS, multiple=True, help="Repeatable.")
@_server_options
@_load_options
def sweep(block_sizes: tuple[int, ...], sequences: tuple[int, ...], **options: Any) -> None:
    """Start a server for each --block-size and --max-num-seqs, and mark the best."""
    if not block_sizes and not sequences:
        raise WrongUsage("give at least one --block-size or --max-num-seqs, better several")
    load = _options(options, prefixes=(2048,), concurrencies=(8,))
    session.sweep(load, _server_plan(options, load), block_sizes, sequences)


def _options(
    options: dict[str, Any], *, prefixes: tuple[int, ...], concurrencies: tuple[int, ...]
) -> LoadOptions:
    """Return what all three forms share, with defaults where nothing was given."""
    if "port" in options:
        distinct({"--port": options["port"], "--exporter-port": options["exporter_port"]})
    output = options["output"] or folders.run() / "bench"
    return LoadOptions(
        python=interpreter.find(
            folders.tools(), options["python"], gpu=options.get("model") is not None
        ),
        output=output,
        repeats=options["repeats"],
        seed=settings.new_seed() if options["seed"] is None else options["seed"],
        as_json=options["as_json"],
        plan=partial(
            plan,
            sorted(set(options["prefixes"] or prefixes)),
            sorted(set(options["concurrencies"] or concurrencies)),
            new_tokens=options["new_tokens"],
            output_tokens=options["output_tokens"],
            requests=options["requests"],
            prompts=[each for each in PROMPTS if each in options["prompts"]],
        ),
    )


def _server_plan(options: dict[str, Any], load: LoadOptions) -> ServerPlan:
    return ServerPlan(
        python=load.python,
        model=options["model"],
        port=options["port"],
        exporter_port=options["exporter_port"],
        run=load.output,
        flags=tuple(options["flags"]),
    )
