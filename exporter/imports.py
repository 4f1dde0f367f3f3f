"""Leaving out what a library loads only because it is there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(name: str) -> Iterator[None]:
    """Make imports of the package ``name`` fail meanwhile, as if it were not installed.

    Nothing is done where it is loaded already: then it costs nothing more.
    """
    if name in sys.modules:
        yield
        return
    # None is what the import system takes for "there is no such module".
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
