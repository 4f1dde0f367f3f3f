"""Findings for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from monitoring.advise.finding import Finding
from monitoring.advise.observation import Observation

_MINUTE = 60.0

_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def print_findings(console: Console, seen: Observation, findings: Sequence[Finding]) -> None:
    """Print what was seen of a server, and what to change, the most urgent first."""
    span = (
        f"{seen.seconds / _MINUTE:.3g} minutes"
        if seen.seconds >= 2 * _MINUTE
        else f"{seen.seconds:.0f} seconds"
    )
    console.print(f"[bold]{escape(seen.server)}[/bold], last {span}")
    console.print(escape(summary(seen)))
    if not findings:
        console.print("[green]Nothing to change.[/green]")
    for number, finding in enumerate(findings, start=1):
        style = _STYLES[finding.urgency]
        console.print(f"\n[{style}]{number}. {escape(finding.title)}[/{style}] ({finding.urgency})")
        table = Table(show_header=False, box=None, padding=(0, 1, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("seen", escape(finding.evidence))
        table.add_row("cause", escape(finding.cause))
        if finding.changes:
            flags = "  ".join(str(change) for change in finding.changes)
            table.add_row("change", f"[bold]{escape(flags)}[/bold]")
        table.add_row("do", escape(finding.action))
        table.add_row("cost", escape(finding.cost))
        table.add_row("verify", escape(finding.verification))
        console.print(table)


def summary(seen: Observation) -> str:
    """Return the figures in one line."""
    rate = seen.hit_rate
    gpu = seen.fullest
    parts = [
        f"{seen.requests:.0f} requests",
        "hit rate none (no lookups)" if rate is None else f"hit rate {rate:.2f}",
        f"KV cache {seen.cache_usage:.2f} (most {seen.cache_usage_most:.2f})",
        f"running {seen.running:.1f}",
        f"waiting {seen.waiting:.1f}",
        f"preemptions {seen.preemptions:.0f}",
        "GPU memory unknown" if gpu is None else f"GPU memory {gpu.usage:.2f}",
    ]
    return ", ".join(parts)
