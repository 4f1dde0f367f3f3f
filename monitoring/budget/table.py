"""The budget for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from monitoring.budget.memory import LOAD_GROWTH_BYTES
from monitoring.budget.published import Replay
from monitoring.budget.report import Report
from monitoring.budget.sizes import show


def print_report(console: Console, report: Report) -> None:
    """Print what a plan takes, whether it fits, and the flags to use."""
    plan, found, model = report.plan, report.budget, report.model
    console.print(
        f"[bold]{escape(model.name)}[/bold], {plan.weights.name}, {plan.max_model_len} tokens, "
        f"{plan.max_num_seqs} sequences, on {escape(report.gpu)}"
    )
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("GPU, usable", show(found.usable))
    table.add_row("vLLM's share", show(found.share), f"{plan.gpu_memory_utilization:g} of it")
    table.add_row("  weights", show(found.weights), _parameters(report))
    table.add_row("  overhead", show(found.overhead), "CUDA, activations, graphs")
    table.add_row("  left for the KV cache", _signed(found.cache))
    table.add_row("One sequence needs", show(sum(found.kept.values())), "at the least")
    for kind, size in found.kept.items():
        if count := sum(layer.kind == kind for layer in model.layers):
            table.add_row(f"  {count} {kind} layers", show(size))
    if model.sharing:
        table.add_row(f"  {model.sharing} layers sharing", show(0), "read another layer's cache")
    table.add_row("  vLLM sets aside", show(found.sequence), "whole blocks, tokens in flight")
    table.add_row("Tokens that fit", f"{max(0, found.token_capacity):,}")
    table.add_row("Sequences at once", f"{max(0.0, found.concurrency):.2f}", "of full length")
    table.add_row("Longest context", f"{found.longest:,}", "one sequence")
    table.add_row("", f"{found.longest_for_all:,}", f"{plan.max_num_seqs} sequences at once")
    table.add_row("Beyond the share", show(LOAD_GROWTH_BYTES), "under load, as measured")
    table.add_row("In use when ready", f"{found.usage_at_start:.3f}")
    table.add_row(
        "In use under load",
        f"{found.usage_under_load:.3f}",
        f"VLLMGPUMemoryHigh: above {report.threshold:g}",
    )
    table.add_row("Left under load", show(found.left))
    console.print(table)
    for line in report.verdicts:
        console.print(line, soft_wrap=True)
    if report.proposal:
        console.print("[bold]Flags to use[/bold]", *report.proposal.flags, soft_wrap=True)
        for change in report.proposal.changes:
            console.print(f"  {change}", soft_wrap=True)


def print_replay(console: Console, replay: Replay) -> None:
    """Print a published budget with the computation from the architecture beside it."""
    console.print(f"[bold]{replay.title}[/bold], GB of 10^9 bytes")
    cards = list(replay.rows[0].left)
    table = Table(header_style="bold", box=None)
    for column in ("tokens", "", "weights", "system", "KV", "total"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for card in cards:
        table.add_column(f"of {card}", justify="right", no_wrap=True)
    for row in replay.rows:
        table.add_row(
            f"{row.tokens}",
            "published",
            f"{replay.published_weights:.1f}",
            f"{replay.system:.1f}",
            f"{row.published_cache:.1f}",
            f"{row.published_total:.1f}",
            *(f"{row.left[card]:.1f}" for card in cards),
        )
        for name, size in (
            ("needed", row.computed_least),
            ("vLLM", row.computed_reserved),
        ):
            total = replay.computed_weights + replay.system + size
            table.add_row(
                "",
                name,
                f"{replay.computed_weights:.1f}",
                f"{replay.system:.1f}",
                f"{size:.1f}",
                f"{total:.1f}",
                *(f"{card - total:.1f}" for card in cards),
            )
    console.print(table)
    console.print(
        "published: the guides' figures. needed: computed from the architecture, each sliding "
        "layer keeping its window. vLLM: computed too, what vLLM sets aside for one sequence, "
        "tokens in flight included, with 2048 batched tokens. The system's figure is the "
        "published one. of 12 and so on: what is left of a card of so many GB."
    )


def _parameters(report: Report) -> str:
    if report.plan.weights_bytes:
        return "as given"
    return f"{report.model.parameters.total / 1e9:.2f} billion parameters"


def _signed(size: int) -> str:
    return show(size) if size >= 0 else f"[red]-{show(-size)}[/red]"
