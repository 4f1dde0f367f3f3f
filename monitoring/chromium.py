"""Chromium, in which the tests of the dashboards' preview look at its page."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from monitoring.errors import SetupError

PROGRAMS = ("chromium", "google-chrome")
"""Names that it goes by, preferred first."""

PACKAGE = "chromium"
"""Debian's package of it."""

COMMAND_SECONDS = 900.0
"""After this long a mirror counts as dead."""

_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", PACKAGE)
_UPDATE = ("apt-get", "update")

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
"""`subprocess.run`, or a stand-in for it."""


def find() -> Path | None:
    """Return Chromium on ``PATH``, or None."""
    return next((Path(path) for name in PROGRAMS if (path := shutil.which(name))), None)


def provide(*, step: Callable[[str], None], run: Runner = subprocess.run) -> Path:
    """Return Chromium; where it is missing, root has apt install it.

    Unlike the chain's programs it is not unpacked beside the kit: it needs dozens of libraries.

    Args:
        step: Told each step, in a few words.
        run: Starts a program and waits for it, like `subprocess.run`.

    Raises:
        SetupError: It is missing and cannot be installed.
    """
    if found := find():
        return found
    if os.geteuid() != 0:
        raise SetupError(_advice("only root may"))
    if shutil.which("apt-get") is None:
        raise SetupError(_advice("there is no apt here"))
    step(f"installing {PACKAGE}")
    if _fault(_INSTALL, run):
        # A fresh container has read no package lists, and old ones name files that are gone.
        step("reading the lists of packages")
        reason = _fault(_UPDATE, run)
        step(f"installing {PACKAGE}")
        reason = _fault(_INSTALL, run) or reason
    else:
        reason = ""
    if found := find():
        return found
    raise SetupError(_advice(reason or "apt-get has put no such program on PATH"))


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


def _advice(reason: str) -> str:
    return (
        f"chromium, which the tests need: not found, and not to be installed ({reason}). Install "
        f"the package {PACKAGE} (Debian: apt-get install {PACKAGE}), or put Chromium on PATH."
    )
