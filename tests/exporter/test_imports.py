"""What the exporter's process loads."""

import importlib
import subprocess
import sys

import pytest

from exporter.imports import missing, without


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


@pytest.mark.parametrize("name", ["exporter", "alerts", "dashboards", "monitoring"])
def test_python_without_the_packages_is_told_of_in_one_line(name):
    # -S: as a Python that has the standard library alone.
    done = subprocess.run(
        [sys.executable, "-S", "-m", name], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"{name}: {sys.executable} lacks the Python package ")
    assert ".venv/bin/python" in done.stderr
    assert done.stderr.count("\n") == 1


def test_module_of_the_kit_that_is_missing_is_a_defect_and_no_advice():
    with pytest.raises(ModuleNotFoundError):
        missing(ModuleNotFoundError(name="exporter.nowhere"))
