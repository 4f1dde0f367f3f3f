from __future__ import annotations

import socket
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dashboards.preview import bundle
from dashboards.preview.command import command


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundle, "ensure", lambda _folder, _say: tmp_path)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "say which Prometheus to ask: --prometheus http://127.0.0.1:19090"),
        (["--prometheus", "localhost:9090"], "localhost:9090' is no URL of a server: write"),
        (["--prometheus", "http://host:port"], "http://host:port' is no URL of a server: write"),
        (["--prometheus", "http://x", "--listen", "13000x"], "'13000x' is no address"),
        (
            ["--prometheus", "http://x", "--listen", "h:99999"],
            "port 99999 is not between",
        ),
        (
            ["--prometheus", "http://x", "--dashboards", "/nowhere"],
            "/nowhere is not a folder of dashboards",
        ),
        (
            ["--prometheus", "http://x", "--dashboards", "/", "--settings", "/nowhere"],
            "/nowhere: cannot be read",
        ),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], line: str) -> None:
    with pytest.raises(click.ClickException) as caught:
        command.main(arguments, standalone_mode=False)
    assert caught.value.exit_code == 2
    assert line in caught.value.format_message()
    assert "\n" not in caught.value.format_message()


def test_an_address_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        arguments = ["--prometheus", "http://x", "--listen", address, "--dashboards", str(tmp_path)]
        with pytest.raises(click.ClickException) as caught:
            command.main(arguments, standalone_mode=False)
    assert caught.value.format_message().startswith(f"cannot listen on {address}: ")


def test_a_page_that_cannot_be_built_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_folder: Path, _say: object) -> Path:
        raise bundle.BundleError("node is missing")

    monkeypatch.setattr(bundle, "ensure", fail)
    with pytest.raises(click.ClickException, match="node is missing"):
        command.main(["--build-only"], standalone_mode=False)


def test_build_only_serves_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--build-only"])
    assert (result.exit_code, result.output) == (0, f"preview: the page is built in {tmp_path}\n")
