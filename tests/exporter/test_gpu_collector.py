"""From readings of GPUs to the page: what is shown, what is not, and what is logged."""

import threading
import time
from collections import Counter
from pathlib import Path

import fake_nvml
import pytest
from conftest import samples
from fake_nvml import GPU_IS_LOST, HOST_MEMORY, MISMATCH, UNKNOWN
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from exporter.collectors import Collectors, Snapshot
from exporter.collectors.gpu import GPUCollector
from exporter.gpu import GPU, GPUError, GPUMemory, GPUProcess, GPUSnapshot
from exporter.gpu.nvml import NVMLBackend

GOLDEN = Path(__file__).parent / "golden"

STATES = {
    "idle-h200": fake_nvml.idle_h200,
    "loaded-h200": fake_nvml.loaded_h200,
    "old-driver": fake_nvml.old_driver,
    "mig": fake_nvml.mig,
    "gb10": fake_nvml.gb10,
    "gb10-hosts-memory": fake_nvml.gb10_that_shows_the_hosts_memory,
    "lost": lambda: fake_nvml.two_h200(GPU_IS_LOST),
    "sentinels": fake_nvml.sentinels,
}


def nvml_backend(nvml, **options):
    return NVMLBackend(lambda: nvml, host_memory=lambda: HOST_MEMORY, **options)


def collector(nvml, owners=lambda _: {}, **options):
    return GPUCollector(nvml_backend(nvml, **options), owners)


def page(families):
    return generate_latest(Snapshot(families)).decode()


@pytest.mark.parametrize("state", STATES)
def test_page_of_each_state_is_the_golden_one(state, request):
    owners = lambda pids: {pid: "chat" for pid in pids if pid in (4242, 101)}  # noqa: E731
    extras = frozenset({"energy", "pcie"})
    families, _ = collector(STATES[state](), owners, extras=extras).collect(5.0)
    text = page(families)
    path = GOLDEN / f"gpu-{state}.metrics"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()
    series = Counter(
        (sample.name, tuple(sorted(sample.labels.items())))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    )
    assert max(series.values()) == 1
    assert "nan" not in text.lower()


def test_lost_gpu_is_noticed_by_its_up_and_has_nothing_else():
    nvml = fake_nvml.two_h200()
    gpus = collector(nvml)
    gpus.collect(5.0)
    nvml.devices[1].faults["*"] = GPU_IS_LOST
    families, complete = gpus.collect(5.0)
    shown = {name: value for name, value in samples(families).items() if "GPU-second" in str(name)}
    assert list(shown.values()) == [0.0]
    assert "gpu_up" in str(next(iter(shown)))
    assert not complete


def test_all_gpus_are_down_when_the_driver_is_lost():
    nvml = fake_nvml.two_h200()
    gpus = collector(nvml)
    gpus.collect(5.0)
    nvml.faults["nvmlDeviceGetCount"] = MISMATCH
    families, complete = gpus.collect(5.0)
    text = page(families)
    assert 'vllm:gpu_up{gpu="0",uuid="GPU-first"} 0.0' in text
    assert 'vllm:gpu_up{gpu="1",uuid="GPU-second"} 0.0' in text
    assert "memory" not in text
    assert not complete


@pytest.mark.parametrize("status", [GPU_IS_LOST, MISMATCH, UNKNOWN])
def test_hundred_scrapes_of_a_fault_are_one_line_and_its_end_one_more(status, log_lines):
    nvml = fake_nvml.two_h200()
    gpus = collector(nvml)
    gpus.collect(5.0)
    for device in nvml.devices:
        device.faults["*"] = status
    for _ in range(100):
        gpus.collect(5.0)
    expected = 2 if status == GPU_IS_LOST else 1  # one for each lost GPU
    assert [line["log_level"] for line in log_lines] == ["warning"] * expected


def test_recovery_is_one_line(log_lines):
    nvml = fake_nvml.two_h200(UNKNOWN)
    gpus = collector(nvml)
    gpus.collect(5.0)
    nvml.devices[1].faults.clear()
    for _ in range(3):
        gpus.collect(5.0)
    assert [line["event"] for line in log_lines] == [
        "GPU metrics are missing",
        "GPU metrics are back",
    ]


def test_driver_without_a_gpu_is_told():
    _, complete = collector(fake_nvml.FakeNVML()).collect(5.0)
    assert not complete


class Scripted:
    """A backend that does what the test says."""

    name = "scripted"

    def __init__(self, read):
        self.read = read
        self.closed = threading.Event()

    def close(self):
        self.closed.set()


def test_error_that_nobody_thought_of_costs_only_the_gpus():
    def read():
        raise RuntimeError("driver bug")

    class Other:
        name = "other"

        def collect(self, timeout):
            return [], True

    families = Collectors([GPUCollector(Scripted(read)), Other()]).collect(5.0)
    text = page(families)
    assert 'vllm_exporter_collector_success{collector="gpu"} 0.0' in text
    assert 'vllm_exporter_collector_success{collector="other"} 1.0' in text


def test_hung_driver_takes_one_thread_and_no_scrape(log_lines):
    hung, calls = threading.Event(), []

    def read():
        calls.append(1)
        hung.wait(30)
        raise GPUError("gone")

    gpus = GPUCollector(Scripted(read))
    threads = threading.active_count()
    began = time.monotonic()
    for _ in range(20):
        families, complete = gpus.collect(0.2)
        assert (page(families), complete) == ("", False)
    assert time.monotonic() - began < 2.0  # only the first one waited
    assert len(calls) == 1
    assert threading.active_count() <= threads + 1
    assert len(log_lines) == 1
    gpus.close()
    hung.set()


def test_closing_reaches_the_driver():
    backend = Scripted(lambda: GPUSnapshot("", ()))
    gpus = GPUCollector(backend)
    gpus.close()
    assert backend.closed.wait(5)


# --- whose memory it is ---


def gpu(*processes, used=10_000, reserved=500):
    memory = GPUMemory(20_000, used, 20_000 - used - (reserved or 0), reserved)
    rows = tuple(GPUProcess(pid, held) for pid, held in processes)
    return GPU("0", "u", "n", memory, processes=rows)


def lines(text_families, *names):
    return sorted(
        line
        for line in page(text_families).splitlines()
        if line.startswith(tuple(f"vllm:gpu_memory_{name}_bytes{{" for name in names))
    )


def shown(reading, owners):
    snapshot = GPUSnapshot("", (reading,))
    families, _ = GPUCollector(Scripted(lambda: snapshot), lambda _: owners).collect(5.0)
    return lines(families, "process", "other")


def test_memory_is_split_by_server_and_the_rest_is_others():
    assert shown(gpu((1, 4000), (2, 1000), (3, 2500), (9, 700)), {1: "a", 2: "a", 3: "b"}) == [
        'vllm:gpu_memory_other_bytes{gpu="0",uuid="u"} 2500.0',
        'vllm:gpu_memory_process_bytes{gpu="0",server="a",uuid="u"} 5000.0',
        'vllm:gpu_memory_process_bytes{gpu="0",server="b",uuid="u"} 2500.0',
    ]


def test_nothing_is_said_where_no_servers_process_is_known():
    assert shown(gpu((1, 4000)), {}) == []


def test_server_with_a_process_of_unknown_size_has_no_share():
    assert shown(gpu((1, 4000), (2, None)), {1: "a", 2: "a"}) == []


def test_old_driver_shows_shares_but_not_what_is_left():
    assert shown(gpu((1, 4000), reserved=None), {1: "a"}) == [
        'vllm:gpu_memory_process_bytes{gpu="0",server="a",uuid="u"} 4000.0'
    ]


def test_what_is_left_is_never_negative():
    assert shown(gpu((1, 4000), used=3999), {1: "a"})[0].endswith(" 0.0")
