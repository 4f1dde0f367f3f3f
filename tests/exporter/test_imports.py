"""What the exporter's process loads."""

import importlib
import subprocess
import sys

import pytest

from exporter.imports import without


def test_package_is_missing_only_meanwhile(monkeypatch):
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with without("wave"), pytest.raises(ModuleNotFoundError):
        importlib.import_module("wave")
    assert importlib.import_module("wave")


def test_loaded_package_stays():
    before = sys.modules["pytest"]
    with without("pytest"):
        assert sys.modules["pytest"] is before
    assert sys.modules["pytest"] is before


def test_process_loads_nothing_that_only_draws_or_fetches():
    code = "import sys, exporter.__main__; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "pygments", "requests", "urllib3"} & set(done.stdout.split())
