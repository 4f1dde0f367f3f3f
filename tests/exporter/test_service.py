"""The exporter as a process, beside stand-ins for vLLM."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).parents[2]
PAGE = b'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5\n'


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Running:
    def __init__(self, log, *arguments):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "exporter", "--gpu.backend", "none"),
                    *("--web.listen-address", f"127.0.0.1:{self.port}", *arguments),
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stderr=stderr,
            )

    def get(self, path, method="GET"):
        response = requests.request(method, self.url + path, timeout=10)
        return response.status_code, response.text

    def ready(self):
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                return self.get("/-/ready")[0] == 200
            time.sleep(0.02)
        raise AssertionError(self.log.read_text())

    def until(self, condition):
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)


@pytest.fixture
def run(tmp_path):
    started = []

    def run(*arguments):
        running = Running(tmp_path / f"log-{len(started)}", *arguments)
        started.append(running)
        assert running.ready()
        return running

    yield run
    for running in started:
        running.process.kill()
        running.process.wait()


def test_ends_at_once_on_sigterm_even_while_vllm_hangs(run, stand_in):
    hung = stand_in(lambda connection: time.sleep(30))
    running = run("--vllm.url", hung.url, "--vllm.timeout", "20s")
    began = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(15) == 0
    # 0.2 s on an idle machine; the bound is for a busy one, and far below vLLM's 20 s.
    assert time.monotonic() - began < 5.0


def test_starts_while_vllm_is_down_and_recovers_by_itself(run, stand_in, helpers):
    port = free_port()
    running = run("--vllm.url", f"http://127.0.0.1:{port}", "--server.name", "chat")
    assert (
        'vllm_exporter_upstream_state{server="chat",state="unreachable"} 1.0'
        in running.get("/metrics")[1]
    )
    behave = helpers.always(helpers.answer(PAGE))
    with socket.create_server(("127.0.0.1", port)) as listening:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=behave, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        running.until(
            lambda: (
                'vllm:kv_cache_usage{model_name="m",server="chat"} 0.5'
                in running.get("/metrics")[1]
            )
        )
    lines = running.log.read_text().splitlines()
    assert len([line for line in lines if "metrics are missing" in line]) == 1
    assert len([line for line in lines if "metrics are read" in line]) == 1


def assert_not_served(address):
    result = subprocess.run(
        [
            *(sys.executable, "-m", "exporter", "--gpu.backend", "none"),
            *("--web.listen-address", address),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "--web.listen-address" in result.stderr


def test_address_in_use_is_exit_1_and_one_line(stand_in):
    assert_not_served(f"127.0.0.1:{stand_in(lambda connection: None).port}")


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".test", "999.1.1.1", "[zz]"])
def test_address_that_is_none_is_exit_1_and_one_line(host):
    assert_not_served(f"{host}:{free_port()}")


class Shell(Running):
    """Starts the exporter through a shell, which takes something away from it first."""

    def __init__(self, before="", after=""):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        flags = f"--web.listen-address 127.0.0.1:{self.port} --vllm.url http://127.0.0.1:9"
        command = f"{before} exec {sys.executable} -m exporter --gpu.backend none {flags} {after}"
        self.process = subprocess.Popen(["sh", "-c", command], cwd=ROOT)

    def __enter__(self):
        deadline = time.monotonic() + 15
        while True:
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            with contextlib.suppress(OSError):
                self.get("/-/ready")
                return self
            time.sleep(0.02)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize("redirection", ["2>/dev/full", ">&- 2>&-"])
def test_log_that_cannot_be_written_costs_no_figure(redirection):
    with Shell(after=redirection) as running:
        assert 'state="unreachable"} 1.0' in running.get("/metrics")[1]
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(15) == 0


@pytest.mark.parametrize("limits", ["ulimit -Sn 48;", "ulimit -Sn 64; ulimit -Hn 64;"])
def test_flood_of_connections_does_not_use_up_all_files(limits, tmp_path):
    log = tmp_path / "log"
    with Shell(limits, f"2>{log}") as running, contextlib.ExitStack() as clients:
        for _ in range(200):
            clients.enter_context(socket.create_connection(("127.0.0.1", running.port), 10))
        for _ in range(3):
            assert 'state="unreachable"} 1.0' in running.get("/metrics")[1]
        assert "library" not in log.read_text()


def servers(*names_and_urls):
    return "servers:\n" + "".join(f"  - {{name: {n}, url: '{u}'}}\n" for n, u in names_and_urls)


@pytest.mark.parametrize("how", ["SIGHUP", "POST"])
def test_file_is_read_again_and_a_bad_one_refused_whole(run, stand_in, helpers, tmp_path, how):
    vllm = stand_in(helpers.always(helpers.answer(PAGE)))
    path = tmp_path / "config.yml"
    path.write_text(servers(("first", vllm.url)))
    running = run("--config.file", str(path), "--web.enable-lifecycle")

    def again():
        if how == "POST":
            return running.get("/-/reload", "POST")
        running.process.send_signal(signal.SIGHUP)
        return None

    def shown():
        return running.get("/metrics")[1]

    assert 'vllm_exporter_upstream_up{server="first"} 1.0' in shown()
    path.write_text(servers(("first", vllm.url), ("second", vllm.url)))
    assert again() in (None, (200, "Reloaded.\n"))
    running.until(lambda: 'vllm_exporter_upstream_up{server="second"} 1.0' in shown())
    assert "servers 'first' and 'second' have one URL" in running.log.read_text()

    path.write_text(servers(("third", vllm.url)) + "  - {name: broken}\n")
    answer = again()
    assert how != "POST" or (answer[0] == 500 and "line 3: servers.1 has no url" in answer[1])
    running.until(lambda: "vllm_exporter_config_last_reload_successful 0.0" in shown())
    assert 'upstream_up{server="second"} 1.0' in shown()
    assert 'server="third"' not in shown()
    assert "line 3: servers.1 has no url" in running.log.read_text()

    path.write_text(servers(("third", vllm.url)))
    again()
    running.until(lambda: 'upstream_up{server="third"} 1.0' in shown())
    assert "vllm_exporter_config_last_reload_successful 1.0" in shown()
    assert 'server="second"' not in shown()


def test_file_that_comes_to_name_servers_is_refused_if_flags_do(run, stand_in, helpers, tmp_path):
    vllm = stand_in(helpers.always(helpers.answer(PAGE)))
    path = tmp_path / "config.yml"
    path.write_text(f"probe: {{allow: ['{vllm.url}']}}")
    flags = ["--vllm.url", vllm.url, "--server.name", "chat"]
    running = run("--config.file", str(path), "--web.enable-lifecycle", *flags)
    path.write_text(servers(("other", vllm.url)))
    status, text = running.get("/-/reload", "POST")
    assert (status, "give one" in text) == (500, True)
    assert 'vllm_exporter_upstream_up{server="chat"} 1.0' in running.get("/metrics")[1]


def test_flood_of_reloads_by_both_ways_ends_with_the_last_file(run, stand_in, helpers, tmp_path):
    vllm = stand_in(helpers.always(helpers.answer(PAGE)))
    path = tmp_path / "config.yml"
    path.write_text(servers(("s0", vllm.url)))
    running = run("--config.file", str(path), "--web.enable-lifecycle")
    for number in range(1, 30):
        with_fault = "" if number % 2 else "  - 5\n"
        path.write_text(servers((f"s{number}", vllm.url)) + with_fault)
        for _ in range(20):
            running.process.send_signal(signal.SIGHUP)
        status, _ = running.get("/-/reload", "POST")
        assert status == (200 if number % 2 else 500)
        assert running.get("/metrics")[0] == 200
    running.until(lambda: 'upstream_up{server="s29"} 1.0' in running.get("/metrics")[1])
    assert "Traceback" not in running.log.read_text()


def test_flood_of_sighup_neither_ends_the_process_nor_keeps_it_from_ending(run):
    running = run("--vllm.url", "http://127.0.0.1:9")
    for _ in range(5_000):
        running.process.send_signal(signal.SIGHUP)
    assert running.get("/-/healthy")[0] == 200
    running.until(lambda: "no --config.file" in running.log.read_text())
    over = threading.Event()

    def flood():
        while not over.is_set():
            running.process.send_signal(signal.SIGHUP)

    flooding = threading.Thread(target=flood)
    flooding.start()
    try:
        running.process.send_signal(signal.SIGTERM)
        running.until(lambda: "msg=stopped" in running.log.read_text())
    finally:
        over.set()
        flooding.join()
    assert running.process.wait(15) == 0
    assert "Traceback" not in running.log.read_text()


def test_reload_over_http_is_off_unless_enabled_and_only_by_post(run):
    running = run()
    status, text = running.get("/-/reload", "POST")
    assert (status, "--web.enable-lifecycle" in text) == (403, True)
    assert running.get("/-/reload")[0] == 405


def test_sighup_without_a_file_does_no_harm(run):
    running = run()
    running.process.send_signal(signal.SIGHUP)
    running.until(lambda: "no --config.file" in running.log.read_text())
    assert running.get("/-/healthy")[0] == 200


def test_sighup_that_comes_before_anything_is_served_does_no_harm():
    script = "import os, signal, exporter.__main__; os.kill(os.getpid(), signal.SIGHUP); print(1)"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, timeout=30, check=False
    )
    assert (result.returncode, result.stdout) == (0, b"1\n")


def test_probe_over_http(run, stand_in, helpers, tmp_path):
    vllm = stand_in(helpers.always(helpers.answer(PAGE)))
    path = tmp_path / "config.yml"
    path.write_text(f"servers: []\nprobe: {{allow: ['{vllm.url}']}}\n")
    running = run("--config.file", str(path))
    status, text = running.get(f"/probe?target={vllm.url}")
    assert status == 200
    assert "probe_success 1.0" in text
    assert running.get("/probe?target=http://127.0.0.1:9")[0] == 400
    assert running.get("/probe")[0] == 400
    assert run().get(f"/probe?target={vllm.url}")[0] == 404


def test_secrets_are_in_no_line_of_the_log_and_on_no_page(run, stand_in, helpers, tmp_path):
    refusing = stand_in(helpers.always(helpers.answer(b"", "401 Unauthorized")))
    path = tmp_path / "config.yml"
    url = refusing.url.replace("//", "//user:hunter2@")
    path.write_text(f"servers:\n  - url: {url}/?key=hunter2\n    headers: {{X-Key: hunter2}}\n")
    running = run("--config.file", str(path), "--log.level", "debug")
    pages = running.get("/metrics")[1] + running.get("/")[1]
    assert "unauthorized" in pages
    running.until(lambda: "metrics are missing" in running.log.read_text())
    assert "hunter2" not in pages + running.log.read_text()


def test_sixty_four_servers_are_fetched_at_once(run, stand_in, helpers):
    page = helpers.recording("synthetic-vllm-0.30.0/metrics-full")
    reply = helpers.answer(page)

    def behave(connection):
        while helpers.request_head(connection):
            time.sleep(0.01)
            connection.sendall(reply)

    arguments = []
    for _ in range(64):
        arguments += ["--vllm.url", stand_in(behave).url]
    running = run(*arguments)
    durations = []
    for _ in range(10):
        began = time.monotonic()
        text = running.get("/metrics")[1]
        durations.append(time.monotonic() - began)
    assert text.count('state="ok"} 1.0') == 64
    # 64 in turn would take 0.64 s for the servers alone. Roomy: the machine may be busy.
    assert min(durations) < 0.4


def test_memory_is_flat_over_many_scrapes(run, stand_in, helpers):
    page = helpers.recording("synthetic-vllm-0.30.0/metrics-full")
    running = run("--vllm.url", stand_in(helpers.always(helpers.answer(page))).url)

    def resident():
        fields = Path(f"/proc/{running.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(200):
        running.get("/metrics")
    before = resident()
    for _ in range(600):
        running.get("/metrics")
    assert resident() - before < 2 * 2**20
