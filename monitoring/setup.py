"""``python -m monitoring setup``: gets what the chain is made of.

Everything lands below ``.tools/``; what is there already is only looked at, so a second run
takes a moment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dashboards.preview import bundle
from monitoring import binaries, folders, programs, system_programs
from monitoring.errors import SetupError
from monitoring.gguf import install as gguf
from monitoring.vllm import install, interpreter

_TESTED = "The tests need the page."


@dataclass
class Narration:
    """What a user reads while something is fetched: a spinner, or plain lines in a log."""

    console: Console
    progress: Progress | None = None
    _step: str = ""

    def remark(self, text: str) -> None:
        """Say something that stays."""
        self.console.print(text, style="yellow", highlight=False, soft_wrap=True, markup=False)

    def done(self, text: str) -> None:
        """Say what is there now."""
        self.console.print(f"✓ {text}", highlight=False, soft_wrap=True, markup=False)

    def step(self, text: str) -> None:
        """Say what begins."""
        self._step = text
        if self.progress:
            self.progress.update(self.progress.task_ids[0], description=text, detail="")
        else:
            self.console.print(f"… {text}", highlight=False, soft_wrap=True, markup=False)

    def detail(self, text: str) -> None:
        """Say where the step is; only shown where it can be overwritten."""
        if self.progress:
            room = max(self.console.width - len(self._step) - 16, 0)
            self.progress.update(self.progress.task_ids[0], detail=text[:room])


@contextlib.contextmanager
def narration(console: Console) -> Iterator[Narration]:
    """Show steps on a console, with a spinner where that is a terminal."""
    if not console.is_terminal:
        yield Narration(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[detail]}", style="dim", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task("looking for what is there", total=None, detail="")
        yield Narration(console, progress)


def prepare_binaries(tools: Path, *, development: bool, narrator: Narration) -> dict[str, Path]:
    """Find or fetch Prometheus and Alertmanager, and for development their checkers too.

    Raises:
        SetupError: One of them can neither be found nor fetched.
    """
    names = binaries.DEVELOPMENT if development else binaries.CHAIN
    found = binaries.provide(names, tools, remark=narrator.remark, step=narrator.step)
    for name, path in found.items():
        narrator.done(f"{name}: {path}")
    return found


def prepare_system_programs(narrator: Narration) -> None:
    """Find the system's programs that the tests need, or have apt install them.

    Raises:
        SetupError: One of them can neither be found nor installed.
    """
    for program in system_programs.DEVELOPMENT:
        path = system_programs.provide(program, step=narrator.step)
        narrator.done(f"{program.name}: {path}")


def prepare_vllm(tools: Path, *, narrator: Narration) -> Path:
    """Find vLLM, or install its CPU build into an environment of its own.

    Raises:
        SetupError: It cannot be installed.
    """
    version = interpreter.wanted_version()
    try:
        python = interpreter.find(tools)
    except SetupError:
        narrator.remark(install.THIRD_PARTY_NOTE)
        python = install.install(tools, version, step=narrator.step, detail=narrator.detail)
    narrator.done(f"vLLM {version}: {python}")
    return python


def prepare_gguf(tools: Path, option: Path | None, *, narrator: Narration) -> Path:
    """Install what vLLM needs to load GGUF into vLLM's environment.

    Args:
        tools: The folder of fetched things.
        option: The interpreter that has vLLM; None: the one that `up` would take.
        narrator: Told what happens.

    Raises:
        SetupError: There is no vLLM, or pip fails.
    """
    python = interpreter.find(tools, option, gpu=programs.has_gpu())
    found = gguf.install(python, tools, step=narrator.step, detail=narrator.detail)
    narrator.done(f"{gguf.PLUGIN} {found.plugin}, {gguf.ADAPTER} {found.adapter}: {python}")
    return python


def prepare_preview(*, development: bool, narrator: Narration) -> Path | None:
    """Build the page that shows the dashboards where there is no Grafana.

    The chain runs without the page too, so one that cannot be built is only told; the tests do
    not.

    Returns:
        The built page's folder; None where Grafana makes it needless, or it cannot be built.

    Raises:
        SetupError: It is for development and cannot be built.
    """
    if not development and (grafana := binaries.find("grafana", folders.tools())):
        narrator.done(f"grafana: {grafana.path}")
        return None
    try:
        site = bundle.ensure(bundle.default_folder(), narrator.step)
    except bundle.BundleError as error:
        if development:
            raise SetupError(f"{error} (Debian: the packages nodejs and npm). {_TESTED}") from None
        narrator.remark(f"{error}. The chain runs without it.")
        return None
    narrator.done(f"preview: {site}")
    return site


@click.command()
@click.option(
    "--binaries",
    "only_binaries",
    is_flag=True,
    help="Prometheus, Alertmanager, and the preview of the dashboards where Grafana is missing.",
)
@click.option("--vllm", "only_vllm", is_flag=True, help="vLLM, as a build for CPUs.")
@click.option(
    "--gguf", "only_gguf", is_flag=True, help="What vLLM needs for GGUF files; not part of all."
)
@click.option(
    "--vllm-python",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Python interpreter that has vLLM, for --gguf.",
)
@click.option(
    "--dev", is_flag=True, help="Also what the tests need: promtool, Chromium and others."
)
def setup(
    *,
    only_binaries: bool,
    only_vllm: bool,
    only_gguf: bool,
    vllm_python: Path | None,
    dev: bool,
) -> None:
    """Get what the chain is made of: all, or only what the options name."""
    if vllm_python and not only_gguf:
        raise click.UsageError("--vllm-python is for --gguf: give that too")
    everything = not (only_binaries or only_vllm or only_gguf)
    with narration(Console(stderr=True)) as narrator:
        if only_binaries or everything:
            if dev:
                prepare_system_programs(narrator)
            prepare_binaries(folders.tools(), development=dev, narrator=narrator)
            prepare_preview(development=dev, narrator=narrator)
        if only_vllm or everything:
            prepare_vllm(folders.tools(), narrator=narrator)
        if only_gguf:
            prepare_gguf(folders.tools(), vllm_python, narrator=narrator)
