"""What a running chain says that a person may open, with stand-ins for its programs."""

import io

import pytest
from rich.console import Console

from alerts.settings import load
from monitoring import state, up
from monitoring.configuration import Layout
from monitoring.display import Display
from monitoring.options import ChainOptions
from monitoring.running import RunningChain
from monitoring.supervision.interrupt import Interrupt


@pytest.fixture
def start(tmp_path, standin, supervise):
    """Return a function that runs stand-ins with the names of programs as a chain."""

    def run(*names: str, vllm_url: str = "http://127.0.0.1:9") -> RunningChain:
        supervisor = supervise(*map(standin, names))
        options = ChainOptions(vllm_url=vllm_url, run_folder=tmp_path)
        layout = Layout(tmp_path, tmp_path / "data")
        display = Display(Console(file=io.StringIO()))
        chain = RunningChain(options, load(), layout, supervisor, display, "up")
        supervisor.start(Interrupt())
        return chain

    return run


def told(chain: RunningChain) -> str:
    out = io.StringIO()
    up._introduce(chain, Display(Console(file=out)))
    return out.getvalue()


def test_the_preview_is_named_first_and_grafana_gets_a_word(start):
    chain = start("exporter", "prometheus", "preview")
    lines = told(chain).strip().splitlines()
    assert lines[0].strip() == f"{chain.url('preview')}  the dashboards, in the kit's preview"
    assert sum("grafana.com/grafana/download" in line for line in lines) == 1
    assert "not shown" not in told(chain)


def test_where_neither_is_there_one_line_says_how_to_get_them(start):
    lines = told(start("exporter", "prometheus")).splitlines()
    (line,) = [one for one in lines if "not shown" in one]
    assert "python -m monitoring setup" in line
    assert "Node.js 20 or later and npm" in line
    assert "grafana.com/grafana/download" in line


def test_where_grafana_is_there_nothing_is_missing(start):
    chain = start("exporter", "prometheus", "grafana")
    assert chain.pages()[0][0] == chain.url("grafana")
    assert chain.remark() == ""
    assert "No Grafana" not in told(chain)


def test_a_server_of_which_nothing_can_be_read_is_told_of(start, standin_server, free_port):
    absent = f"http://127.0.0.1:{free_port()}"
    text = told(start("exporter", vllm_url=absent))
    assert f"✗ --vllm-url: nothing answers at {absent}" in text
    assert "figures appear when vLLM answers there" in text
    other = standin_server({"/metrics": lambda _: (200, "node_load1 0.5\n")})
    assert f"✗ --vllm-url: {other} answers, and is not vLLM\n" in told(
        start("exporter", vllm_url=other)
    )
    vllm = standin_server({"/metrics": lambda _: (200, "vllm:num_requests_running 0\n")})
    assert "--vllm-url" not in told(start("exporter", vllm_url=vllm))


def test_the_preview_is_in_the_state_that_status_reads(start, tmp_path):
    chain = start("prometheus", "preview")
    chain.write_state()
    names = [one.name for one in state.read(tmp_path).components]
    assert names == ["prometheus", "preview"]
