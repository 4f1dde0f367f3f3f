"""``python -m monitoring smoke``: does a running server serve right."""

from __future__ import annotations

import json
import os
import random
import sys

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from alerts.usage import WrongUsage
from exporter.parameters import URL, NonEmpty, Number, Whole
from monitoring.smoke.check import Check
from monitoring.smoke.client import Client
from monitoring.smoke.examination import MOST_TOKENS, examine

MOST_PROMPT_TOKENS = 1_000_000
MOST_SECONDS = 3600

_MARKS = {"pass": "[green]pass[/green]", "warn": "[yellow]warn[/yellow]", "fail": "[red]fail[/red]"}


@click.command("smoke")
@click.argument("url", type=URL(), default="http://127.0.0.1:8000")
@click.option("--model", type=NonEmpty(), help="Which model; default: the first that is served.")
@click.option(
    "--max-tokens",
    type=Whole(32, MOST_PROMPT_TOKENS),
    default=MOST_TOKENS,
    show_default=True,
    help="Length of the prompt that is repeated.",
)
@click.option(
    "--timeout",
    type=Number(1, MOST_SECONDS),
    default=120,
    show_default=True,
    help="Seconds that one request may take.",
)
@click.option("--seed", type=Whole(0), help="Makes the prompts; default: other ones each time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    url: str, model: str | None, max_tokens: int, timeout: float, seed: int | None, *, as_json: bool
) -> None:
    """Examine the server at URL: version, model, metrics, answers, streaming, prefix cache.

    A key, where the server wants one, is taken from OPENAI_API_KEY.

    Exit codes: 0 all passed or warned; 1 something failed; 2 wrong usage.
    """
    client = Client(url, timeout, _key())
    # A prompt that was sent before would be found the first time.
    chosen = random.SystemRandom().randrange(2**32) if seed is None else seed
    console = Console(stderr=True)
    with console.status("examining") as status:
        checks = list(
            examine(
                client,
                model=model,
                most_tokens=max_tokens,
                seed=chosen,
                progress=lambda step: status.update(f"examining: {step}"),
            )
        )
    worst = "fail" if any(check.status == "fail" for check in checks) else "pass"
    if as_json:
        data = {"url": url, "status": worst, "checks": [check.as_data() for check in checks]}
        click.echo(json.dumps(data, indent=2))
    else:
        _print(checks)
    sys.exit(1 if worst == "fail" else 0)


def _key() -> str | None:
    key = os.environ.get("OPENAI_API_KEY")
    if key and (not key.isascii() or not key.isprintable() or " " in key):
        raise WrongUsage("OPENAI_API_KEY holds no key: blanks or signs that no key has")
    return key or None


def _print(checks: list[Check]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        text = escape(check.reason)
        if check.remedy:
            text += f"\n[dim]{escape(check.remedy)}[/dim]"
        table.add_row(_MARKS[check.status], check.name, text)
    Console().print(table)
