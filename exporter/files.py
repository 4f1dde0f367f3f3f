"""Files that others write, read without ever waiting for a writer."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MAX_CERTIFICATES_MIB = 4
"""A system's bundle has a quarter of one MiB."""


def read_file(path: Path, max_mib: int = 1) -> bytes:
    """Return the content of a regular file of at most ``max_mib`` MiB.

    Opening a FIFO waits for its writer, and reading a device may never end: either would hold up
    a start, or the thread that serves, for good.

    Raises:
        OSError: It cannot be read, is no regular file or is larger; ``strerror`` says which.
    """
    with open_file(path) as file:
        content: bytes | None = file.read((max_mib << 20) + 1)
    if content is None:  # of the kernel's own files some have nothing until there is news
        raise OSError(errno.EAGAIN, "gives nothing to read", str(path))
    if len(content) > max_mib << 20:
        raise OSError(errno.EFBIG, f"has more than {max_mib} MiB", str(path))
    return content


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: It cannot be opened, or is no regular file; ``strerror`` says which.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "a name cannot hold a NUL", str(path))
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 - the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
