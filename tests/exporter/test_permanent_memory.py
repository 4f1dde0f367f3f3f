"""A server whose configuration alone keeps the alert on GPU memory firing is told of in the log."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from alerts import settings
from exporter import engine, exposition, generations
from exporter.collectors import server

RECORDINGS = Path(__file__).parent.parent / "recordings"


def told(page: bytes) -> list[dict]:
    reading = engine.read(exposition.parse(page, generations.READ))
    with capture_logs() as logs:
        server._tell_permanent_memory("gpu-host:8000", reading)
    return [dict(line) for line in logs]


def test_threshold_is_that_of_the_alert() -> None:
    assert settings.load().memory.usage.high == server.HIGH_MEMORY_USAGE


def test_server_told_to_take_090_is_named_with_both_ways_out() -> None:
    (line,) = told((RECORDINGS / "h200-vllm-0.25.1" / "metrics-start.txt").read_bytes())
    assert line["server"] == "gpu-host:8000"
    assert line["gpu_memory_utilization"] == 0.9
    assert "--gpu-memory-utilization 0.85" in line["remedy"]
    assert "memory.usage.high" in line["remedy"]


@pytest.mark.parametrize(
    "change",
    [
        (b'gpu_memory_utilization="0.9"', b'gpu_memory_utilization="0.85"'),
        (b'gpu_memory_utilization="0.9"', b'gpu_memory_utilization="None"'),
        # Then vLLM does not go by the share, whatever the label says.
        (b'kv_cache_memory_bytes="None"', b'kv_cache_memory_bytes="1073741824"'),
    ],
)
def test_others_are_not(change: tuple[bytes, bytes]) -> None:
    page = (RECORDINGS / "h200-vllm-0.25.1" / "metrics-start.txt").read_bytes()
    assert change[0] in page
    assert told(page.replace(*change)) == []
