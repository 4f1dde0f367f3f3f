"""Command line of ``python -m monitoring``."""

from __future__ import annotations

import difflib

import click

from alerts import command_line
from monitoring import down, receiver, setup, status, up
from monitoring.advise.command import command as advise
from monitoring.bench.command import command as bench
from monitoring.budget.command import command as budget
from monitoring.demo.command import command as demo
from monitoring.drill.command import command as drill
from monitoring.relay.command import command as relay
from monitoring.smoke.command import command as smoke


class _Commands(click.Group):
    """A group that suggests the nearest command for one that it does not know."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = self.list_commands(ctx)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise click.UsageError(f"no such command: {name}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def command() -> None:
    """Run the vLLM monitoring chain on this machine, look at it, stop it."""


for _one in (
    up.command,
    status.command,
    down.command,
    demo,
    drill,
    receiver.command,
    relay,
    setup.setup,
    budget,
    smoke,
    bench,
    advise,
):
    command.add_command(_one)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status; see `alerts.command_line.run`."""
    return command_line.run(command, "python -m monitoring", "monitoring", arguments)
