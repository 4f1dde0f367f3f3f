"""What is known on disk about the running chain: ``chain.json`` and a lock, in the run folder.

The lock is held by the supervisor for as long as it lives, however it dies. So the file alone
never proves that a chain runs: without the lock it is stale.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from monitoring.supervision.errors import ChainError

FILE = "chain.json"
LOCK = "chain.lock"

_MOST = 2**40  # above every process ID, and every time in seconds

T = TypeVar("T")


@dataclass(frozen=True)
class ComponentState:
    """One program of the chain.

    Attributes:
        name: Its name.
        phase: Where it is in its life; see `monitoring.supervision.supervisor.Phase`.
        pid: Its process ID, which is its session's too; None while it does not run.
        port: Port on which it listens.
        url: Its root URL.
        ready_url: URL that answers 200 while it is well.
        log: Its log.
        restarts: How often it was started again.
    """

    name: str
    phase: str
    pid: int | None
    port: int
    url: str
    ready_url: str
    log: str
    restarts: int


@dataclass(frozen=True)
class ChainState:
    """The chain as its supervisor last wrote it down.

    Attributes:
        pid: Process ID of the supervisor.
        started_at: Unix time in seconds.
        command: What was started: ``up`` or ``demo``.
        vllm_url: Root of the monitored server.
        server: Value of the label ``server``.
        prometheus_url: Root of Prometheus, for queries.
        components: The programs, in the order of their start.
    """

    pid: int
    started_at: float
    command: str
    vllm_url: str
    server: str
    prometheus_url: str
    components: tuple[ComponentState, ...]


def write(run_folder: Path, state: ChainState) -> None:
    """Replace the file as a whole."""
    unfinished = run_folder / f"{FILE}.new"
    unfinished.write_text(json.dumps(asdict(state), indent=1) + "\n", encoding="utf-8")
    unfinished.replace(run_folder / FILE)


def read(run_folder: Path) -> ChainState | None:
    """Return what the file says, or None if there is none.

    Raises:
        ChainError: The file cannot be read, or is not of this version of the kit.
    """
    path = run_folder / FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        components = tuple(_made(ComponentState, one) for one in values.pop("components"))
        return _made(ChainState, {**values, "components": components})
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ChainError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ChainError(
            f"{path} is not this kit's: stop what still runs of the chain, then remove the file"
        ) from None


def _made(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return a state of plain data, or raise TypeError or ValueError.

    Programs are stopped by what the file says, so each value must be of its kind.
    """
    for name, wanted in get_type_hints(kind).items():
        value = values[name]
        if name == "components":
            continue
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TypeError(name)
        if isinstance(value, int | float) and not 0 <= value < _MOST:
            raise ValueError(name)
        if name == "pid" and value == 0:  # for os.kill, all that the caller started
            raise ValueError(name)
    return kind(**values)


def remove(run_folder: Path) -> None:
    """Remove the file, if it is there."""
    (run_folder / FILE).unlink(missing_ok=True)


def is_running(run_folder: Path) -> bool:
    """Tell whether a supervisor holds the lock."""
    try:
        descriptor = os.open(run_folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def locked(run_folder: Path) -> Iterator[None]:
    """Hold the lock.

    Raises:
        ChainError: The folder cannot be written, or another supervisor holds its lock.
    """
    try:
        run_folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(run_folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ChainError(
            f"{run_folder} cannot be written: {error.strerror}; choose another --run-dir"
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ChainError(
                f"a chain runs already in {run_folder}: see `python -m monitoring status`, stop it "
                "with `python -m monitoring down`"
            ) from None
        yield
    finally:
        os.close(descriptor)
