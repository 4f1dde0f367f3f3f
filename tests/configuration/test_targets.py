import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from exporter.addresses import default_server_name
from monitoring.prometheus.targets import Targets, write


def server(url: str, name: str | None = None) -> dict:
    (target,) = Targets(url, "e:1", "p:1", "a:1", name).files()["vllm.yml"]
    return target


@pytest.mark.parametrize(
    ("url", "address", "scheme", "path"),
    [
        ("http://vllm:8000", "vllm:8000", "http", "/metrics"),
        ("http://10.0.0.7", "10.0.0.7:80", "http", "/metrics"),
        ("https://llm.example.org", "llm.example.org:443", "https", "/metrics"),
        ("https://user:secret@h/prefix/", "h:443", "https", "/prefix/metrics"),
        ("http://[::1]:8000/metrics", "[::1]:8000", "http", "/metrics"),
    ],
)
def test_address_scheme_and_path_come_from_the_url(
    url: str, address: str, scheme: str, path: str
) -> None:
    target = server(url)
    assert target["targets"] == [address]
    assert target["labels"]["__scheme__"] == scheme
    assert target["labels"]["__metrics_path__"] == path


def test_the_server_is_called_as_the_exporter_calls_it() -> None:
    url = "http://gpu-7:8000"
    assert server(url)["labels"]["server"] == default_server_name(url)
    assert server(url, "gemma")["labels"]["server"] == "gemma"


def test_files_are_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    for exporter in ("old:1", "new:1"):
        write(Targets("http://v:1", exporter, "p:1", "a:1"), tmp_path / "targets")
    folder = tmp_path / "targets"
    assert sorted(path.name for path in folder.iterdir()) == [
        "alertmanager.yml",
        "drills.yml",
        "prometheus.yml",
        "vllm-exporter.yml",
        "vllm.yml",
    ]
    (exporter,) = yaml.safe_load((folder / "vllm-exporter.yml").read_text())
    assert exporter == {"targets": ["new:1"]}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "monitoring.prometheus.targets", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


PLACES = ("--exporter=e:1", "--prometheus=p:1", "--alertmanager=a:1")


def test_command_writes_them(tmp_path: Path) -> None:
    # docker compose passes an empty name where none is set.
    done = run("--vllm-url=http://v:1", "--server-name=", *PLACES, f"--output={tmp_path}")
    assert (done.returncode, done.stderr) == (0, "")
    (target,) = yaml.safe_load((tmp_path / "vllm.yml").read_text())
    assert target["labels"]["server"] == "v:1"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--vllm-url=vllm:8000", "--output=x"), 2, "is no URL of a server"),
        (("--output=x",), 2, "Missing option '--vllm-url'"),
        (("--vllm-url=http://v:1", "--output=/proc/none"), 1, "/proc/none: cannot be written"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    arguments: tuple[str, ...], status: int, message: str
) -> None:
    done = run(*PLACES, *arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
