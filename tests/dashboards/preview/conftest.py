"""A real Prometheus with a few seconds of history, the preview before it, and a browser.

The vLLM servers are stand-ins: they serve a recorded page whose counters go on as if the traffic
of the recording went on. Nothing else here is one.
"""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from dashboards.preview import bundle
from dashboards.preview.server import Application, Source, server
from monitoring import system_programs
from monitoring.binaries import provide

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / "tests" / "recordings"
BOARDS = ROOT / "tests" / "dashboards" / "boards"
PAGES = {
    "alpha:8000": RECORDINGS / "cpu-vllm-0.30.0" / "metrics-gemma4-after-load.txt",
    "beta:8000": RECORDINGS / "h200-vllm-0.25.1" / "metrics-after-load.txt",
}
RECORDED_SECONDS = 30.0
"""The recording's counts are taken as the traffic of so long."""

WAIT_MS = 20_000
"""How long a busy machine may take to show something."""

CHROMIUM = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: vllm
    fallback_scrape_protocol: PrometheusText0.0.4
    static_configs:
{targets}
"""
_RULES = """
groups:
  - name: stand-in
    rules:
      - alert: ServerIsAlpha
        expr: up{server="alpha:8000"} == 1
        labels: {severity: warning}
        annotations:
          summary: Fires as long as the test runs.
          dashboard_url: http://elsewhere.test/d/every-panel?viewPanel=2&var-server={{$labels.server}}
          runbook_url: http://elsewhere.test/runbook
      - alert: AlwaysFires
        expr: vector(1)
        labels: {severity: none}
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.2)
    raise TimeoutError(f"{what} did not come about in {seconds:.0f} s")


class _StandIn(ThreadingHTTPServer):
    """Stands in for a vLLM server: the recorded page, its counters growing."""

    daemon_threads = True

    def __init__(self, recording: Path) -> None:
        super().__init__(("127.0.0.1", 0), _StandInPage)
        self.lines = recording.read_text(encoding="utf-8").splitlines()
        self.started = time.monotonic()

    def page(self) -> str:
        """Return the page with its counts grown by the time since the start."""
        growth = 1 + (time.monotonic() - self.started) / RECORDED_SECONDS
        kind = ""
        lines = []
        for line in self.lines:
            if line.startswith("# TYPE"):
                kind = line.rsplit(" ", 1)[1]
            grows = kind in ("counter", "histogram") and not line.startswith("#")
            if grows and "_created" not in line.partition("{")[0]:
                name, _, value = line.rpartition(" ")
                lines.append(f"{name} {float(value) * growth!r}")
            else:
                lines.append(line)
        return "\n".join(lines) + "\n"


class _StandInPage(BaseHTTPRequestHandler):
    server: _StandIn

    def do_GET(self) -> None:
        body = self.server.page().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(scope="session")
def stand_ins() -> Iterator[dict[str, str]]:
    """Addresses of the stand-ins for vLLM, by the name of the server."""
    servers = {name: _StandIn(page) for name, page in PAGES.items()}
    for each in servers.values():
        threading.Thread(target=each.serve_forever, daemon=True).start()
    yield {name: f"127.0.0.1:{each.server_port}" for name, each in servers.items()}
    for each in servers.values():
        each.shutdown()
        each.server_close()


@pytest.fixture(scope="session")
def prometheus(
    stand_ins: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """URL of a real Prometheus that has scraped the stand-ins often enough for rates."""
    folder = tmp_path_factory.mktemp("prometheus")
    targets = "\n".join(
        f"      - {{targets: ['{address}'], labels: {{server: '{name}'}}}}"
        for name, address in stand_ins.items()
    )
    rules = folder / "rules.yml"
    rules.write_text(_RULES, encoding="utf-8")
    configuration = folder / "prometheus.yml"
    configuration.write_text(_CONFIGURATION.format(rules=rules, targets=targets), encoding="utf-8")
    url = f"http://127.0.0.1:{_free_port()}"
    program = provide(("prometheus",), ROOT / ".tools")["prometheus"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={configuration}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={url.removeprefix('http://')}",
                "--log.level=warn",
            ],
            stdout=log,
            stderr=log,
        )
        try:
            # Rates over four scrapes need five.
            query = 'count(count_over_time(up{job="vllm"}[20s]) >= 8)'
            _until(lambda: _value(url, query) == str(len(PAGES)), "enough scrapes")
            _until(lambda: _value(url, 'count(ALERTS{alertstate="firing"})') == "2", "the alerts")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=20)


def _value(url: str, query: str) -> str | None:
    try:
        answer = requests.get(f"{url}/api/v1/query", params={"query": query}, timeout=5)
        result = answer.json()["data"]["result"]
    except (requests.RequestException, KeyError, ValueError):
        return None
    return str(result[0]["value"][1]) if result else None


@pytest.fixture(scope="session")
def site() -> Path:
    """The built page. Building it takes longer than a test may."""
    built = bundle.built(bundle.default_folder())
    if built is None:
        pytest.fail("the page is not built: run `make test`, or `python -m monitoring setup --dev`")
    return built


@pytest.fixture(scope="session")
def serve(site: Path) -> Iterator[Callable[[str, Path], str]]:
    """Start a preview of a folder of boards before a Prometheus; gives its URL."""
    running = []

    def start(prometheus_url: str, folder: Path) -> str:
        http = server(Application(Source(prometheus_url, "1s", folder, site)), "127.0.0.1", 0)
        threading.Thread(target=http.serve, daemon=True).start()
        running.append(http)
        return f"http://127.0.0.1:{http.bind_addr[1]}"

    yield start
    for http in running:
        http.stop()


@pytest.fixture(scope="session")
def boards() -> Path:
    """Folder of the test's boards."""
    return BOARDS


@pytest.fixture(scope="session")
def preview(serve: Callable[[str, Path], str], prometheus: str, boards: Path) -> str:
    """URL of a preview of the test's boards before the real Prometheus."""
    return serve(prometheus, boards)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium."""
    program = system_programs.find(system_programs.CHROMIUM)
    if program is None:
        pytest.fail("no Chromium: run `make test`, or `python -m monitoring setup --dev`")
    with sync_playwright() as playwright:
        expect.set_options(timeout=WAIT_MS)
        browser = playwright.chromium.launch(executable_path=program, args=list(CHROMIUM))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> BrowserContext:
    """One for all tests: the browser keeps the page's script, compiled, between them."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(WAIT_MS)
    return context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A fresh page of a wide window; what the page's scripts complain of fails the test."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error.stack or error)))
    page.on("console", lambda m: complaints.append(m.text) if _complaint(m.type, m.text) else None)
    yield page
    page.evaluate("localStorage.clear()")
    page.close()
    assert complaints == []


def _complaint(kind: str, text: str) -> bool:
    # An answer that is an error is the subject of its test, not a fault of the page.
    return kind == "error" and not re.match(r"Failed to load resource", text)
