"""The page that draws the dashboards, built once by npm from the sources beside this module."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).with_name("web")

NODE_MAJOR = 20
"""Oldest major version of Node.js that builds the page."""

_LEFT_OUT = frozenset({"node_modules", "site"})
_LOCK_FILES = ("package.json", "package-lock.json", ".npmrc", "empty/package.json")
_NPM_CI = ("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
_VITE_BUILD = ("npm", "run", "--silent", "build")

Say = Callable[[str], None]


class BundleError(RuntimeError):
    """The page cannot be built; the message is one line that says what to do."""


def default_folder() -> Path:
    """Return where the page is built: ``.tools/preview`` of a checkout, else the user's cache."""
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file():
        return root / ".tools" / "preview"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "vllm-monitoring-kit" / "preview"


def built(folder: Path, sources: Path = SOURCES) -> Path | None:
    """Return the folder of the built page, or None where it is not built from ``sources``."""
    site = _site(folder, sources, list(_files(sources)))
    return site if _is_whole(site) else None


def ensure(folder: Path, say: Say, sources: Path = SOURCES) -> Path:
    """Return the folder of the built page; build it first where it is not that of ``sources``.

    Args:
        folder: Where packages and the page are kept; made if missing.
        say: Takes a line of progress; not called when nothing is to be done.
        sources: The page's sources.

    Raises:
        BundleError: Node.js or npm is missing or too old, or a step of the build failed.
    """
    files = list(_files(sources))
    site = _site(folder, sources, files)
    if _is_whole(site):
        return site
    _check_node()
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not _is_whole(site):
            _build(folder, sources, files, site, say)
    return site


def _site(folder: Path, sources: Path, files: list[Path]) -> Path:
    return folder / f"site-{_digest(sources, files)}"


def _is_whole(site: Path) -> bool:
    return (site / "index.html").is_file()


def _build(folder: Path, sources: Path, files: list[Path], site: Path, say: Say) -> None:
    work = folder / "work"
    for old in work.iterdir() if work.is_dir() else ():
        if old.name != "node_modules":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for file in files:
        target = work / file.relative_to(sources)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    log = folder / "npm.log"
    log.write_bytes(b"")
    packages = _digest(sources, [sources / name for name in _LOCK_FILES])
    installed = folder / "installed"
    if not installed.is_file() or installed.read_text(encoding="utf-8") != packages:
        say("preview: fetching the page's npm packages, once (about a minute, 330 MB)")
        installed.unlink(missing_ok=True)
        _run(_NPM_CI, work, log)
        installed.write_text(packages, encoding="utf-8")
    say("preview: building the page (about half a minute)")
    _run(_VITE_BUILD, work, log)
    for old in folder.glob("site-*"):
        shutil.rmtree(old)
    (work / "site").rename(site)


def _run(command: tuple[str, ...], folder: Path, log: Path) -> None:
    with log.open("ab") as output:
        result = subprocess.run(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    if result.returncode:
        reason = _reason(log.read_text(encoding="utf-8", errors="replace"))
        words = " ".join(command[:2])
        raise BundleError(f"the preview's page cannot be built: {words} failed: {reason} ({log})")


def _reason(output: str) -> str:
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in output.splitlines()]
    told = [line for line in lines if "error" in line.lower()] or [line for line in lines if line]
    return told[0][:200] if told else "it printed nothing"


def _check_node() -> None:
    hint = f"install Node.js {NODE_MAJOR} or later with npm, or use Grafana"
    unbuilt = "the preview's page is not built yet"
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise BundleError(f"{unbuilt}, and node or npm is missing: {hint}")
    told = subprocess.run(("node", "--version"), capture_output=True, text=True, check=False)
    version = re.fullmatch(r"v(\d+)\..*", told.stdout.strip())
    if version is None or int(version[1]) < NODE_MAJOR:
        found = told.stdout.strip() or "unusable"
        raise BundleError(f"{unbuilt}, and node is {found}: {hint}")


def _files(sources: Path) -> Iterator[Path]:
    for path in sorted(sources.rglob("*")):
        if path.is_file() and not _LEFT_OUT.intersection(path.relative_to(sources).parts):
            yield path


def _digest(root: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process build at a time; another waits and finds the page built."""
    with (folder / "lock").open("w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
