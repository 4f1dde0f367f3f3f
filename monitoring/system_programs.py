"""Programs of the system that the tests need.

Unlike the chain's they are not unpacked beside the kit: each needs dozens of libraries.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from monitoring.errors import SetupError

COMMAND_SECONDS = 900.0
"""After this long a mirror counts as dead."""

_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
_UPDATE = ("apt-get", "update")

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
"""`subprocess.run`, or a stand-in for it."""


@dataclass(frozen=True)
class SystemProgram:
    """A program that is installed for the whole machine.

    Attributes:
        executables: Names that it goes by, preferred first.
        package: Debian's package of it.
    """

    executables: tuple[str, ...]
    package: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.executables[0]


CHROMIUM = SystemProgram(("chromium", "google-chrome"), "chromium")
"""In which the tests of the dashboards' preview look at its page."""

SYSTEMD_ANALYZE = SystemProgram(("systemd-analyze",), "systemd")
"""By which the tests check the unit."""

DEVELOPMENT = (CHROMIUM, SYSTEMD_ANALYZE)
"""What the tests need."""


def find(program: SystemProgram) -> Path | None:
    """Return the program on ``PATH``, or None."""
    found = (shutil.which(name) for name in program.executables)
    return next((Path(path) for path in found if path), None)


def provide(
    program: SystemProgram, *, step: Callable[[str], None], run: Runner = subprocess.run
) -> Path:
    """Return the program; where it is missing, root has apt install it.

    Args:
        program: Which.
        step: Told each step, in a few words.
        run: Starts a program and waits for it, like `subprocess.run`.

    Raises:
        SetupError: It is missing and cannot be installed.
    """
    if found := find(program):
        return found
    if os.geteuid() != 0:
        raise SetupError(_advice(program, "only root may"))
    if shutil.which("apt-get") is None:
        raise SetupError(_advice(program, "there is no apt here"))
    install = (*_INSTALL, program.package)
    step(f"installing {program.package}")
    if _fault(install, run):
        # A fresh container has read no package lists, and old ones name files that are gone.
        step("reading the lists of packages")
        reason = _fault(_UPDATE, run)
        step(f"installing {program.package}")
        reason = _fault(install, run) or reason
    else:
        reason = ""
    if found := find(program):
        return found
    raise SetupError(_advice(program, reason or "apt-get has put no such program on PATH"))


def _fault(command: tuple[str, ...], run: Runner) -> str:
    """Run a command; return why it failed, or nothing."""
    try:
        done = run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        return f"{command[0]} does not start: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {COMMAND_SECONDS:.0f} s"
    if not done.returncode:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
    said = (lines or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0]
    return f"{' '.join(command[:2])} says: {said.removeprefix('E:').strip()}"


def _advice(program: SystemProgram, reason: str) -> str:
    name, package = program.name, program.package
    return (
        f"{name}, which the tests need: not found, and not to be installed ({reason}). Install "
        f"the package {package} (Debian: apt-get install {package}), or put {name} on PATH."
    )
