"""Measurements with a stand-in for the load generator."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from monitoring.bench import session
from monitoring.bench.comparison import best, compared
from monitoring.bench.gauges import Gauges, reading
from monitoring.bench.generator import LoadGenerator
from monitoring.bench.measurement import Point, Run, measure, steps
from monitoring.bench.report import Report, write
from monitoring.bench.scenario import Prompts, Target, plan
from monitoring.bench.servers import ServerPlan, exporter
from monitoring.bench.settings import LoadOptions

RECORDINGS = Path(__file__).parents[2] / "recordings"
EXPORTER_PAGE = """\
vllm:prefix_cache_hit_rate{server="a",model_name="m"} 0.8
vllm:gpu_memory_usage{gpu="0",uuid="x"} 0.7
"""


class StandIn(LoadGenerator):
    """Answers at once; what is shared is answered sooner."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.sent: list[Prompts] = []

    @property
    def folder(self) -> str:
        return "/nowhere"

    def run(self, arguments: Any, prompts: Prompts = "text") -> dict[str, Any]:
        self.asked.append(list(arguments))
        self.sent.append(prompts)
        shared = self.value("--prefix-repetition-num-prefixes", -1) == "1"
        requests = int(self.value("--num-prompts", -1))
        first = 0.1 if shared else 0.4
        return {
            "ttfts": [first] * requests,
            "itls": [[0.01, 0.02]] * requests,
            "input_lens": [520] * requests,
            "output_throughput": 100.0 if shared else 40.0,
            "total_token_throughput": 1000.0,
            "duration": 1.0,
        }

    def value(self, flag: str, index: int) -> str:
        arguments = self.asked[index]
        return arguments[arguments.index(flag) + 1]


@pytest.fixture
def url() -> Iterator[str]:
    """A stand-in for a server: vLLM's page, the exporter's below /exporter."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            page = EXPORTER_PAGE if self.path.startswith("/exporter") else ""
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def points(url: str, generator: StandIn, repeats: int = 2) -> list[Point]:
    loads = plan([512], [1, 4], [False, True], new_tokens=8, output_tokens=4, requests=5)
    told: list[str] = []
    found = measure(
        generator,
        Target(url, "m", "t"),
        loads,
        setting="m",
        repeats=repeats,
        seed=1000,
        exporter_url=f"{url}/exporter",
        progress=told.append,
    )
    assert len(told) == steps(loads, repeats)
    return found


def test_a_report_holds_no_password(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Started(StandIn):
        def __enter__(self) -> Started:
            return self

        def close(self) -> None:
            return

    monkeypatch.setattr(session, "LoadGenerator", lambda python: Started())
    loads = partial(plan, [512], [1], new_tokens=8, output_tokens=4, requests=5, prompts=["text"])
    options = LoadOptions(Path(sys.executable), tmp_path, 1, 7, True, loads)
    where = Target(url.replace("//", "//me:secret@"), "m", "t")
    session.one_server(options, where, None)
    printed = capsys.readouterr().out
    assert f'"{url}"' in printed
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert b"secret" not in b"".join([printed.encode(), *written])


def test_repeats_are_interleaved_and_prompts_never_come_twice(url: str) -> None:
    generator = StandIn()
    points(url, generator)
    seeds = [
        (generator.value("--seed", index), generator.value("--num-prompts", index))
        for index in range(len(generator.asked))
    ]
    assert seeds[0][0] == "999"
    assert seeds[1][0] == "998"
    measured = [seed for seed, count in seeds[2:] if count != "1"]
    assert len(set(measured)) == len(measured) == 8
    # Each shared prefix was sent once before, with the seed of its measurement.
    primed = [index for index, (_, count) in enumerate(seeds) if index > 1 and count == "1"]
    assert len(primed) == 4
    assert all(seeds[index][0] == seeds[index + 1][0] for index in primed)


def test_figures_of_a_point(url: str) -> None:
    unique, shared = points(url, StandIn())[:2]
    assert (unique.first.median, shared.first.median) == (0.4, 0.1)
    assert shared.gap.median == pytest.approx(0.015)
    assert shared.hit_rate is None
    assert shared.agreements == []
    assert shared.runs[0].gauges.hit_rate == 0.8
    assert shared.runs[0].gauges.memory_usage == 0.7


def test_comparison_of_shared_and_unique(url: str) -> None:
    pairs = compared(points(url, StandIn()))
    assert [(pair.prefix_tokens, pair.concurrency) for pair in pairs] == [(512, 1), (512, 4)]
    assert pairs[0].first_saved == pytest.approx(0.75)
    assert pairs[0].rate_factor == pytest.approx(2.5)


def test_forms_of_prompts_are_compared_each_with_itself(url: str, tmp_path: Path) -> None:
    forms: list[Prompts] = ["text", "tokens"]
    loads = plan(
        [512], [1], [False, True], prompts=forms, new_tokens=8, output_tokens=4, requests=5
    )
    generator = StandIn()
    found = measure(
        generator,
        Target(url, "m", "t"),
        loads,
        setting="m",
        repeats=1,
        seed=1000,
        exporter_url=None,
        progress=lambda _: None,
    )
    # A warm-up; then each load, and before the shared ones what brings the prefix into the cache.
    assert generator.sent == ["text", *["text"] * 3, *["tokens"] * 3]
    pairs = compared(found)
    assert [pair.prompts for pair in pairs] == forms
    text, _, plot = (path.read_text() for path in write(Report("", {}, found, pairs), tmp_path))
    assert "| 512 | 1 | tokens | 400.0" in text
    assert "with caching, tokens" in plot


def test_comparison_of_settings() -> None:
    load = plan([512], [1], [True], new_tokens=8, output_tokens=4, requests=5)[0]
    on, off = Point("on", load), Point("off", load)
    (pair,) = compared([on, off], "off")
    assert (pair.without, pair.with_caching) == (off, on)


def test_a_report_is_written_whole(url: str, tmp_path: Path) -> None:
    found = points(url, StandIn())
    report = Report("A title", {"date": "today"}, found, compared(found))
    paths = write(report, tmp_path / "out")
    text, data, plot = (path.read_text() for path in paths)
    assert "| 512 | 1 | text | 400.0 (400.0 to 400.0) | 100.0 (100.0 to 100.0) | 75 % |" in text
    assert "nothing to compare with" in text
    assert "Where the time to first token goes" not in text
    assert "0.800" in text
    assert json.loads(data)["comparisons"][0]["ttft_saved"] == pytest.approx(0.75)
    assert plot.startswith("<svg")
    assert "with caching" in plot
    assert "report.svg" in text


def test_the_best_of_a_sweep_is_marked(url: str, tmp_path: Path) -> None:
    found = points(url, StandIn())
    chosen = best(found)
    assert chosen.scenario.shared
    report = Report("A sweep", {}, found, [], sweep=True)
    text, data, plot = (path.read_text() for path in write(report, tmp_path))
    assert text.count("(best)") == 1
    assert json.loads(data)["best"] == chosen.setting
    assert plot.startswith("<svg")


def test_histograms_of_both_sides_are_compared() -> None:
    from monitoring.bench.figures import Client, server  # noqa: PLC0415

    start = (RECORDINGS / "h200-vllm-0.25.1/metrics-start.txt").read_text()
    loaded = (RECORDINGS / "h200-vllm-0.25.1/metrics-after-load.txt").read_text()
    counted = server(start, loaded)
    assert counted is not None
    load = plan([512], [1], [True], new_tokens=8, output_tokens=4, requests=5)[0]
    mean = counted.first.mean or 0.0
    run = Run(Client((mean, mean), (0.01,), (520, 520), 1.0, 1.0, 1.0), counted, Gauges())
    point = Point("m", load, [run])
    assert point.hit_rate == counted.hit_rate
    assert {each.name: each.agrees for each in point.agreements}["time to first token, mean"]


def test_memory_is_that_of_the_servers_gpus_where_they_are_known() -> None:
    usages = "".join(
        f'vllm:gpu_memory_usage{{gpu="{gpu}",uuid="GPU-{gpu}"}} 0.{gpu}\n' for gpu in (5, 9)
    )
    of_all, of_server = Gauges(), Gauges()

    of_all.take(usages)
    of_server.take(f'{usages}vllm:server_gpu_info{{server="s",gpu="5",uuid="GPU-5"}} 1\n')

    assert (of_all.memory_usage, of_server.memory_usage) == (0.9, 0.5)


def test_exporter_beside_a_server_is_told_of_the_gpus_that_it_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = ServerPlan(Path(sys.executable), None, 1, 2, tmp_path, ())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert not any("--server.gpus" in part for part in exporter(servers).command)

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,3")
    assert "--server.gpus=1,3" in exporter(servers).command


def test_gauges_that_cannot_be_read_are_none() -> None:
    with reading("http://127.0.0.1:9") as gauges:
        pass
    assert (gauges.readings, gauges.hit_rate, gauges.memory_usage) == (0, None, None)


def test_without_an_exporter_nothing_is_read() -> None:
    with reading(None) as gauges:
        pass
    assert gauges.readings == 0
