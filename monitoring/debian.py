"""Unpacking Debian packages into a folder, without installing them and without root.

apt already knows a mirror that this machine reaches. It is asked for that mirror's address,
and then runs on a state of its own with one source, Debian ``testing``: the stable releases
have a Prometheus and an Alertmanager that are too old. The packages' signatures are checked
against Debian's own keyring, so no other repository can stand in for the archive.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SUITE = "testing"

KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)

COMMAND_SECONDS = 900.0
"""After this long a mirror counts as dead; its connections give up much sooner."""

TARGET_FORMAT = "$(ORIGIN)\t$(LABEL)\t$(COMPONENT)\t$(CREATED_BY)\t$(REPO_URI)"

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
"""`subprocess.run`, or a stand-in for it."""


class ArchiveError(Exception):
    """Debian's packages cannot be had here; the message is the reason, in part of a sentence."""


@dataclass(frozen=True)
class Archive:
    """Debian's package archive, as this machine reaches it.

    Attributes:
        uri: The mirror's address, as apt's sources have it.
        architecture: Debian's name of the machine's kind, such as ``amd64``.
        keyring: The keys that the archive is signed with; None leaves the choice to apt.
    """

    uri: str
    architecture: str
    keyring: Path | None

    def source(self) -> str:
        """Return the line for apt's sources."""
        options = [f"arch={self.architecture}"]
        if self.keyring:
            options.append(f"signed-by={self.keyring}")
        return f"deb [{' '.join(options)}] {self.uri} {SUITE} main\n"


def unpack(
    packages: Sequence[str],
    destination: Path,
    *,
    step: Callable[[str], None],
    run: Runner = subprocess.run,
) -> None:
    """Download packages and unpack each into a folder of its name.

    A folder appears only when its package is whole.

    Args:
        packages: Debian's package names.
        destination: The folder to unpack into; made where missing.
        step: Told each step, in a few words.
        run: Starts a program and waits for it, like `subprocess.run`.

    Raises:
        ArchiveError: There is no apt, no Debian archive among its sources, or no connection.
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise ArchiveError("there is no apt here")
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=destination) as name:
        work = Path(name)
        environment = _private_state(work, run)
        candidates = archives(environment, run)
        if not candidates:
            raise ArchiveError("apt has no Debian archive among its sources")
        step(f"reading Debian's list of packages ({SUITE})")
        _read_lists(candidates, work, environment, run)
        for package in packages:
            step(f"downloading {package}")
            downloads = work / "downloads" / package
            downloads.mkdir(parents=True)
            _checked(["apt-get", "download", package], environment, run, cwd=downloads)
            step(f"unpacking {package}")
            unpacked = work / "unpacked" / package
            unpacked.mkdir(parents=True)
            (file,) = downloads.glob("*.deb")
            _checked(["dpkg-deb", "--extract", str(file), str(unpacked)], environment, run)
            shutil.rmtree(destination / package, ignore_errors=True)
            unpacked.rename(destination / package)


def archives(environment: dict[str, str], run: Runner) -> list[Archive]:
    """Return the Debian archives that apt is set up to use, likeliest first.

    A machine that has read its package lists knows each source's origin. One that has not (a
    fresh container) still knows the addresses; then those that look like a mirror are taken,
    and Debian's signature decides.
    """
    architecture = _checked(["dpkg", "--print-architecture"], environment, run).strip()
    keyring = next((path for path in KEYRINGS if path.is_file()), None)
    # Only this question goes to the machine's own state; it changes nothing there.
    outer = {key: value for key, value in environment.items() if key != "APT_CONFIG"}
    targets = _checked(
        ["apt-get", "indextargets", "--format", TARGET_FORMAT], outer, run
    ).splitlines()
    uris = [
        fields[4]
        for fields in (line.split("\t") for line in targets)
        if len(fields) == len(TARGET_FORMAT.split("\t"))
        and fields[:4] == ["Debian", "Debian", "main", "Packages"]
    ]
    if not uris:
        uris = _addresses(outer, Path(environment["APT_CONFIG"]).parent / "lists", run)
    return [
        Archive(uri, architecture, keyring)
        for uri in dict.fromkeys(uri.rstrip("/") for uri in uris)
        if not uri.startswith("cdrom:")
    ]


def _addresses(environment: dict[str, str], lists: Path, run: Runner) -> list[str]:
    """Return the addresses in apt's sources that look like a mirror of Debian."""
    printed = _checked(
        ["apt-get", "update", "--print-uris", "-o", f"Dir::State::Lists={lists}"], environment, run
    )
    releases = [line.split("'")[1] for line in printed.splitlines() if line.startswith("'")]
    bases = [uri.partition("/dists/")[0] for uri in releases if "/dists/" in uri]
    return [base for base in bases if base.endswith(("/debian", "/debian.list"))]


def _private_state(work: Path, run: Runner) -> dict[str, str]:
    """Make apt's state folder and settings there; return the environment that selects them.

    The machine's own settings are left out, except those for downloading (proxies above all):
    their hooks expect root, their pins may rule ``testing`` out.
    """
    for name in ("lists/partial", "archives/partial", "sources.list.d"):
        (work / name).mkdir(parents=True)
    (work / "status").touch()
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "APT_CONFIG": str(work / "apt.conf")}
    outer = {key: value for key, value in environment.items() if key != "APT_CONFIG"}
    inherited = [
        line
        for line in _checked(["apt-config", "dump"], outer, run).splitlines()
        if line.startswith("Acquire::") and not line.startswith("Acquire::IndexTargets")
    ]
    own = {
        "Dir::Etc::Main": "/dev/null",
        "Dir::Etc::Parts": "/dev/null",
        "Dir::Etc::SourceList": str(work / "sources.list"),
        "Dir::Etc::SourceParts": str(work / "sources.list.d"),
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State": str(work),
        "Dir::State::Lists": str(work / "lists"),
        "Dir::State::Status": str(work / "status"),
        "Dir::Cache": str(work),
        "Dir::Cache::Archives": str(work / "archives"),
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "Acquire::http::Timeout": "30",
        "Acquire::https::Timeout": "30",
    }
    if os.geteuid() == 0:
        # apt's own user may not read below this folder; nothing here needs its sandbox.
        own["APT::Sandbox::User"] = "root"
    lines = [*inherited, *(f'{key} "{value}";' for key, value in own.items())]
    (work / "apt.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return environment


def _read_lists(
    candidates: list[Archive], work: Path, environment: dict[str, str], run: Runner
) -> None:
    """Read the package list of the first archive that answers and is Debian's."""
    reason = ""
    for archive in candidates:
        (work / "sources.list").write_text(archive.source(), encoding="utf-8")
        try:
            _checked(["apt-get", "update", "--error-on=any"], environment, run)
        except ArchiveError as error:
            reason = str(error)
        else:
            return
    raise ArchiveError(reason)


def _checked(
    command: list[str], environment: dict[str, str], run: Runner, cwd: Path | None = None
) -> str:
    """Run a program, and return what it printed."""
    try:
        done = run(
            command,
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ArchiveError(f"{command[0]} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ArchiveError(f"{command[0]} took longer than {COMMAND_SECONDS:.0f} s") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        said = (errors or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0]
        raise ArchiveError(f"{' '.join(command[:2])} says: {said.removeprefix('E:').strip()}")
    return done.stdout
