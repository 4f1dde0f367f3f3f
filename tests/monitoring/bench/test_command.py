from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from monitoring.bench import session
from monitoring.bench.command import command
from monitoring.bench.servers import ServerPlan, exporter, running, vllm
from monitoring.supervision.component import Component


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sweep",), 2, "give at least one --block-size or --max-num-seqs"),
        (("server", "nonsense"), 2, "no URL of a server"),
        (("server", "--prefix", "0"), 2, "--prefix"),
        (("server", "--prompts", "words"), 2, "--prompts"),
        (("server", "--python", sys.executable), 1, "has no vLLM|no Python that has vLLM"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    last = result.stderr.strip().splitlines()[-1]
    assert any(part in last for part in message.split("|"))


@pytest.mark.parametrize(("owner", "keeps"), [("vllm", True), ("llamacpp", False)])
def test_connections_are_kept_to_vllm_only(
    standin_server: Callable[..., str], owner: str, keeps: bool
) -> None:
    models = {"data": [{"id": "m", "owned_by": owner}]}
    url = standin_server({"/v1/models": lambda _: (200, models)})
    assert session.target(url, None, "/tok").keeps_connections is keeps


def plan(tmp_path: Path, model: str | None) -> ServerPlan:
    return ServerPlan(Path("/v/python"), model, 8010, 18010, tmp_path, ("--seed=1",))


def test_flags_of_a_setting_come_last_and_win(tmp_path: Path) -> None:
    command_line = vllm(plan(tmp_path, None), ["--no-enable-prefix-caching"]).command
    assert command_line[-2:] == ("--seed=1", "--no-enable-prefix-caching")
    assert (tmp_path / "tiny-model" / "config.json").is_file()


def test_a_model_is_served_on_the_gpu(tmp_path: Path) -> None:
    command_line = vllm(plan(tmp_path, "org/model"), ["--block-size=32"]).command
    assert "--model=org/model" in command_line
    assert command_line[-1] == "--block-size=32"


def test_the_exporter_watches_that_server(tmp_path: Path) -> None:
    command_line = exporter(plan(tmp_path, None)).command
    assert "http://127.0.0.1:8010" in command_line
    assert "127.0.0.1:18010" in command_line


def component(code: str, port: int) -> Component:
    return Component(
        "made", (sys.executable, "-c", code), "127.0.0.1", port, "--port", "/", start_seconds=20
    )


def test_a_program_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    made = component("print('no luck'); raise SystemExit(3)", 18999)
    with (
        pytest.raises(click.ClickException, match="made ended") as caught,
        running(made, tmp_path),
    ):
        pass
    assert "no luck" in caught.value.message


def test_a_program_runs_as_long_as_the_context(tmp_path: Path) -> None:
    made = component(
        "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=18998, bind='127.0.0.1')",
        18998,
    )
    with running(made, tmp_path) as url:
        assert url == "http://127.0.0.1:18998"
    with running(made, tmp_path) as url:  # the port is free again
        assert url.endswith("18998")
