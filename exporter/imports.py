"""Leaving out what a library loads only because it is there; telling of what is not there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OWN = ("exporter", "alerts", "dashboards", "monitoring")


def missing(error: ModuleNotFoundError) -> str:
    """Return a line on the package that this Python lacks; raise the error where it is the kit's.

    For the entry points, which are easily run by another Python than the one that has the kit.
    """
    package = (error.name or "").partition(".")[0]
    if not package or package in _OWN:
        raise error
    return (
        f"{sys.executable} lacks the Python package {package}: run this with .venv/bin/python, "
        "which `make setup` makes, or `pip install .` first"
    )


def run_command_line(package: str) -> int:
    """Load the command line of one of the kit's packages, run it, and return its exit status."""
    try:
        command_line = importlib.import_module(f"{package}.cli")
    except KeyboardInterrupt:  # loading takes a second
        return 1
    except ModuleNotFoundError as error:
        sys.exit(f"{package}: {missing(error)}")
    return int(command_line.main())


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
