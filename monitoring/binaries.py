"""The programs that the chain is made of: where they are, and getting those that are not.

They are looked for on ``PATH``, then below ``.tools/``, and what is still missing is unpacked
there from Debian's packages. Too old a program counts as missing. Grafana is only looked for,
since Debian has no package of it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from monitoring import debian
from monitoring.errors import SetupError

VERSION_SECONDS = 20.0
"""How long a program may take to say its version."""

# Grafana's packages put their program where a plain user's PATH does not lead.
FURTHER_FOLDERS = tuple(map(Path, ("/usr/sbin", "/usr/local/sbin", "/usr/share/grafana/bin")))


@dataclass(frozen=True)
class Program:
    """A program that the chain may need.

    Attributes:
        name: What the project and this kit call it.
        oldest: The oldest version that will do.
        executables: The file's possible names, preferred first.
        package: The Debian package that has it; None is for what Debian has not.
    """

    name: str
    oldest: tuple[int, ...]
    executables: tuple[str, ...]
    package: str | None


PROGRAMS = {
    program.name: program
    for program in (
        Program("prometheus", (3, 0), ("prometheus",), "prometheus"),
        Program("promtool", (3, 0), ("promtool",), "promtool"),
        # Debian had to rename it; amtool comes in the same package.
        Program(
            "alertmanager",
            (0, 32),
            ("alertmanager", "prometheus-alertmanager"),
            "prometheus-alertmanager",
        ),
        Program("amtool", (0, 32), ("amtool",), "prometheus-alertmanager"),
        Program("docker-compose", (2, 20), ("docker-compose",), "docker-compose"),
        Program("grafana", (10, 4), ("grafana",), None),
    )
}

CHAIN = ("prometheus", "alertmanager")
"""What running the chain needs."""

DEVELOPMENT = ("prometheus", "promtool", "alertmanager", "amtool", "docker-compose")
"""What the tests need."""


@dataclass(frozen=True)
class Binary:
    """A program that is there.

    Attributes:
        name: The program's name in `PROGRAMS`.
        path: The file to start.
        version: Its version, as numbers.
    """

    name: str
    path: Path
    version: tuple[int, ...]


def find(
    name: str,
    tools: Path,
    *,
    remark: Callable[[str], None] = lambda _: None,
    search: str | None = None,
) -> Binary | None:
    """Return a program that is there and new enough, or None.

    Args:
        name: A name in `PROGRAMS`.
        tools: The folder of fetched binaries.
        remark: Told, in one line each, of programs that are passed over, and why.
        search: Folders in the manner of ``PATH``, which is the default.
    """
    program = PROGRAMS[name]
    for path in _candidates(
        program, tools, os.environ.get("PATH", "") if search is None else search
    ):
        version = version_of(path)
        if version is None:
            remark(f"{path} is passed over: it does not say its version")
        elif version < program.oldest:
            remark(
                f"{path} is passed over: version {_dotted(version)} is older than "
                f"{_dotted(program.oldest)}"
            )
        else:
            return Binary(name, path, version)
    return None


def provide(
    names: Iterable[str],
    tools: Path,
    *,
    remark: Callable[[str], None] = lambda _: None,
    step: Callable[[str], None] = lambda _: None,
    unpack: Callable[..., None] = debian.unpack,
) -> dict[str, Path]:
    """Return each program's file, after fetching those that are missing.

    Several processes may call this at once: one fetches, the others wait for it.

    Args:
        names: Names in `PROGRAMS`.
        tools: The folder of fetched binaries.
        remark: Told, in one line each, of programs that are passed over.
        step: Told each step of fetching, in a few words.
        unpack: Fetches Debian packages, like `monitoring.debian.unpack`.

    Raises:
        SetupError: A program is missing and cannot be fetched.
    """
    wanted = list(dict.fromkeys(names))
    found = {name: find(name, tools, remark=remark) for name in wanted}
    if None in found.values():
        with _alone(tools):
            found = {name: binary or find(name, tools) for name, binary in found.items()}
            missing = [name for name, binary in found.items() if binary is None]
            if missing:
                _fetch(missing, tools, step, unpack)
                found.update({name: find(name, tools) for name in missing})
    binaries = {name: binary.path for name, binary in found.items() if binary is not None}
    if missing := [name for name in wanted if name not in binaries]:
        raise SetupError(_advice(missing, tools, "Debian's packages do not run here"))
    return binaries


def version_of(path: Path) -> tuple[int, ...] | None:
    """Return the version that a program says it has, or None where it says none."""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Prometheus wrote its version to standard error before 3.0.
    match = re.search(r"version:?\s+v?(\d+(?:\.\d+)+)", done.stdout + done.stderr)
    return tuple(map(int, match[1].split("."))) if match and not done.returncode else None


def _candidates(program: Program, tools: Path, search: str) -> Iterator[Path]:
    unpacked = sorted((tools / "packages").glob("*/usr/bin"))
    folders = [*search.split(os.pathsep), *FURTHER_FOLDERS, tools / "bin", *unpacked]
    for folder in filter(str, folders):
        for executable in program.executables:
            if path := shutil.which(executable, path=str(folder)):
                yield Path(path).absolute()


def _fetch(
    missing: list[str], tools: Path, step: Callable[[str], None], unpack: Callable[..., None]
) -> None:
    packages = dict.fromkeys(PROGRAMS[name].package for name in missing)
    if None in packages:
        raise SetupError(_advice(missing, tools, "Debian has no package of it"))
    try:
        unpack(list(packages), tools / "packages", step=step)
    except debian.ArchiveError as error:
        raise SetupError(_advice(missing, tools, str(error))) from error


def _advice(missing: list[str], tools: Path, reason: str) -> str:
    versions = ", ".join(f"{name} >= {_dotted(PROGRAMS[name].oldest)}" for name in missing)
    projects = sorted({_project(name) for name in missing})
    return (
        f"{versions}: not found, and not to be fetched ({reason}). Install the official "
        f"{' and '.join(projects)}, and put the programs on PATH or into {tools / 'bin'}."
    )


def _project(name: str) -> str:
    return {
        "prometheus": "prometheus (prometheus.io/download)",
        "promtool": "prometheus (prometheus.io/download)",
        "alertmanager": "alertmanager (prometheus.io/download)",
        "amtool": "alertmanager (prometheus.io/download)",
        "docker-compose": "docker-compose (docs.docker.com/compose)",
        "grafana": "grafana (grafana.com/grafana/download)",
    }[name]


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@contextmanager
def _alone(tools: Path) -> Iterator[None]:
    """Keep other processes that fetch into the same folder waiting."""
    try:
        tools.mkdir(parents=True, exist_ok=True)
        file = (tools / ".lock").open("w", encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{tools} cannot be written: {error.strerror}.") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
