import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from monitoring import state
from monitoring.advise.command import command
from monitoring.state import ChainState

RECORDINGS = Path(__file__).parents[2] / "recordings"


class Pages(BaseHTTPRequestHandler):
    """A stand-in for a server whose caching is off."""

    text = (RECORDINGS / "h200-vllm-0.25.1/metrics-prefix-caching-off.txt").read_bytes()

    def do_GET(self) -> None:
        body = b"<html>" if self.path.startswith("/other") else self.text
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_a_server_watched_directly(url: str) -> None:
    result = run("--vllm-url", url, "--seconds", "2", "--json")
    (answer,) = json.loads(result.stdout)
    assert result.exit_code == 3
    assert [finding["name"] for finding in answer["findings"]] == ["caching-disabled"]
    assert answer["findings"][0]["changes"] == ["--enable-prefix-caching"]


def test_findings_for_people(url: str) -> None:
    result = run("--vllm-url", url, "--seconds", "2")
    assert result.exit_code == 3
    for expected in ("Prefix caching is off", "change", "--enable-prefix-caching", "verify"):
        assert expected in result.stdout


def test_the_example_of_the_guide_is_what_is_printed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    guide = (Path(__file__).parents[3] / "docs/advise.md").read_text(encoding="utf-8")
    shown = [line[4:] for line in guide.splitlines() if line.startswith("    ")]
    printed = run("--vllm-url", url, "--seconds", "2").stdout.splitlines()
    assert printed[0].endswith(", last 2 seconds")
    assert shown == [line.rstrip() for line in printed[1:] if line]


def test_a_page_without_vllm_is_told(url: str) -> None:
    result = run("--vllm-url", f"{url}/other", "--seconds", "3600")
    assert result.exit_code == 1
    assert "shows no vLLM metrics" in result.stderr


def test_prometheus_of_the_running_chain_is_found(tmp_path: Path) -> None:
    chain = ChainState(1, 0.0, "up", "http://v", "v", "http://127.0.0.1:9", ())
    state.write(tmp_path, chain)
    result = run("--run-dir", str(tmp_path))
    assert result.exit_code == 1
    assert "nothing answers at http://127.0.0.1:9" in result.stderr
    (tmp_path / state.FILE).write_text("[", encoding="utf-8")
    result = run("--run-dir", str(tmp_path))
    assert (result.exit_code, len(result.stderr.strip().splitlines())) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--prometheus", "http://127.0.0.1:9"), 1, "no Prometheus there: nothing answers at"),
        (("--vllm-url", "http://127.0.0.1:9"), 1, "is the program up"),
        (("--vllm-url", "nonsense"), 2, "no URL of a server"),
        (("--exporter-url", "http://127.0.0.1:9"), 2, "goes with --vllm-url"),
        (("--minutes", "0"), 2, "--minutes"),
        (("--settings", "/nowhere.yml"), 2, "/nowhere.yml"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr.strip().splitlines()[-1]
