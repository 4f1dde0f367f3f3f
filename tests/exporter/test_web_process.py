"""The exporter as a process: its web flags, its GPUs, and its end."""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import bcrypt
import pytest
import requests

ROOT = Path(__file__).parents[2]
CERTIFICATES = Path(__file__).parent / "certificates"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Running:
    def __init__(self, log, *arguments):
        self.port = free_port()
        self.log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "exporter", "--vllm.url", "http://127.0.0.1:9"),
                    *("--web.listen-address", f"127.0.0.1:{self.port}", *arguments),
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stderr=stderr,
            )
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)

    def page(self, path="/metrics", **options):
        return requests.get(f"http://127.0.0.1:{self.port}{path}", timeout=10, **options).text


@pytest.fixture
def run(tmp_path):
    started = []

    def start(*arguments):
        started.append(Running(tmp_path / f"log-{len(started)}", *arguments))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_docker_stop_is_quick_with_connections_open(run, number):
    running = run("--gpu.backend", "none")
    running.page()
    open_ones = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(20)]
    open_ones[0].sendall(b"GET /metr")
    began = time.monotonic()
    running.process.send_signal(number)
    assert running.process.wait(10) == 0
    # 0.2 s on an idle machine; the bound is for a busy one.
    assert time.monotonic() - began < 3.0
    for connection in open_ones:
        connection.close()
    assert "Traceback" not in running.log.read_text()


def test_several_addresses_ipv4_and_ipv6(run):
    second = free_port()
    running = run("--gpu.backend", "none", "--web.listen-address", f"[::1]:{second}")
    assert "vllm_exporter_build_info" in running.page()
    response = requests.get(f"http://[::1]:{second}/metrics", timeout=10)
    assert "vllm_exporter_build_info" in response.text


NO_DRIVER = """
import ctypes
class CDLL(ctypes.CDLL):
    def __init__(self, name, *rest, **options):
        if "nvidia-ml" in str(name):
            raise OSError(f"{name}: cannot open shared object file")
        super().__init__(name, *rest, **options)
ctypes.CDLL = CDLL
"""
"""Hides the driver's library where a machine has one; the rest of the way is the real one."""


def test_machine_without_nvml_runs_on_and_says_so_once(run, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(NO_DRIVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    running = run("--gpu.backend", "nvml")
    for _ in range(20):
        page = running.page()
    assert 'vllm_exporter_collector_success{collector="gpu"} 0.0' in page
    assert "vllm:gpu_" not in page
    lines = [line for line in running.log.read_text().splitlines() if "GPU metrics" in line]
    assert len(lines) == 1
    assert "--gpu.backend none" in lines[0]


NVML_THAT_KEEPS_A_DIARY = """
import os
def note(word):
    with open(os.environ["DIARY"], "a") as diary:
        diary.write(word + " ")
class NVMLError(Exception):
    value = 999
nvmlMemory_v2 = 0
nvmlInit = lambda: note("init")
nvmlShutdown = lambda: note("shutdown")
nvmlSystemGetDriverVersion = lambda: "1"
nvmlDeviceGetCount = lambda: 0
nvmlDeviceGetMemoryInfo = nvmlDeviceGetMigMode = nvmlDeviceGetComputeRunningProcesses = None
"""


def test_driver_is_let_go_of_at_the_end(run, tmp_path, monkeypatch):
    (tmp_path / "pynvml.py").write_text(NVML_THAT_KEEPS_A_DIARY)
    diary = tmp_path / "diary"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("DIARY", str(diary))
    running = run("--gpu.backend", "nvml")
    for _ in range(3):
        running.page()
    assert diary.read_text() == "init "
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(20) == 0
    assert diary.read_text() == "init shutdown "


def test_simulated_gpus_say_that_they_are(run, tmp_path):
    card = {"total_bytes": 1000, "reserved_bytes": 100, "used_bytes": 450, "utilization": 0.5}
    path = tmp_path / "gpus.json"
    path.write_text(json.dumps({"gpus": [card] * 8}))
    page = run("--gpu.backend", "simulated", "--gpu.simulated-file", str(path)).page()
    assert page.count('backend="simulated"') == 8
    assert 'vllm:gpu_memory_usage{gpu="7",uuid="GPU-simulated-7"} 0.5' in page
    assert 'vllm:gpu_up{gpu="7",uuid="GPU-simulated-7"} 1.0' in page


def test_tls_and_login_from_the_file_and_no_secret_anywhere(run, tmp_path):
    for name in ("server.pem", "server.key"):
        shutil.copy(CERTIFICATES / name, tmp_path)
    hashed = bcrypt.hashpw(b"hunter2", bcrypt.gensalt(4)).decode()
    config = tmp_path / "web.yml"
    config.write_text(
        "tls_server_config: {cert_file: server.pem, key_file: server.key}\n"
        f"basic_auth_users: {{prom: {hashed}}}\n"
    )
    running = run("--gpu.backend", "none", "--web.config.file", str(config), "--log.level", "debug")
    url = f"https://127.0.0.1:{running.port}"
    ca = str(CERTIFICATES / "ca.pem")
    assert requests.get(f"{url}/metrics", verify=ca, timeout=10).status_code == 401
    pages = ""
    for path in ("/", "/metrics", "/nope"):
        response = requests.get(url + path, verify=ca, timeout=10, auth=("prom", "hunter2"))
        pages += response.text + str(response.headers)
    assert "vllm_exporter_build_info" in pages
    config.write_text("basic_auth_users: {prom: hunter2}\n")
    deadline = time.monotonic() + 10
    while "refused" not in running.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert requests.get(f"{url}/", verify=ca, timeout=10, auth=("prom", "hunter2")).ok
    everything = pages + running.log.read_text()
    for secret in ("hunter2", hashed, (tmp_path / "server.key").read_text().splitlines()[1]):
        assert secret not in everything


def test_bad_web_configuration_is_exit_2_and_one_line_with_line_and_key(tmp_path):
    config = tmp_path / "web.yml"
    config.write_text("# x\nbasic_auth_users:\n  prom: hunter2\n")
    result = subprocess.run(
        [sys.executable, "-m", "exporter", "--web.config.file", str(config)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "line 3: basic_auth_users.prom" in result.stderr
    assert "hunter2" not in result.stderr


def test_threads_and_memory_are_bounded_under_a_flood(run):
    running = run("--gpu.backend", "none")
    for _ in range(50):
        running.page()

    def status(field):
        text = Path(f"/proc/{running.process.pid}/status").read_text()
        return int(text.split(f"{field}:")[1].split()[0])

    threads, resident = status("Threads"), status("VmRSS")
    flood = []
    for number in range(300):
        connection = socket.create_connection(("127.0.0.1", running.port))
        connection.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"a" * (number * 30))
        flood.append(connection)
    began = time.monotonic()
    assert "vllm_exporter_build_info" in running.page()
    assert time.monotonic() - began < 3.0
    assert status("Threads") <= threads + 2
    assert status("VmRSS") - resident < 20 * 1024
    for connection in flood:
        connection.close()
    assert len(running.log.read_text().splitlines()) < 10
