"""The programs' logs: their last lines, and a bound on their size."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

MAX_BYTES = 64 * 1024 * 1024
"""Size at which a log is put aside and begun anew."""

_TAIL_BYTES = 64 * 1024


def tail(path: Path, lines: int, offset: int = 0, noise: Sequence[str] = ()) -> list[str]:
    """Return the last lines of a log.

    Args:
        path: The log; one that cannot be read has no lines.
        lines: Longest result.
        offset: Bytes at the beginning that belong to an earlier run.
        noise: Beginnings of lines that are left out.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if offset > size:  # put aside meanwhile
                offset = 0
            file.seek(max(offset, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line for line in kept if not line.startswith(tuple(noise))][-lines:]


def bound(path: Path, limit: int = MAX_BYTES) -> bool:
    """Put a log that is longer than ``limit`` bytes aside as ``NAME.1`` and begin it anew.

    The program keeps its file open, so the content is copied away and the file cut to nothing;
    programs append, so they go on at its beginning.
    """
    try:
        if path.stat().st_size <= limit:
            return False
        shutil.copyfile(path, path.with_name(path.name + ".1"))
        with path.open("r+b") as file:
            file.truncate()
    except OSError:
        return False
    return True
