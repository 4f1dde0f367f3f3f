from pathlib import Path

import pytest

from monitoring.advise.observation import Observation
from monitoring.advise.pages import configuration, observe, read

RECORDINGS = Path(__file__).parents[2] / "recordings"
START = (RECORDINGS / "h200-vllm-0.25.1/metrics-start.txt").read_text()
LOADED = (RECORDINGS / "h200-vllm-0.25.1/metrics-after-load.txt").read_text()
OFF = (RECORDINGS / "h200-vllm-0.25.1/metrics-prefix-caching-off.txt").read_text()

EXPORTER = """\
vllm:gpu_memory_usage{gpu="0",uuid="GPU-1"} %s
vllm:gpu_memory_total_bytes{gpu="0",uuid="GPU-1"} 1000
vllm:gpu_memory_reserved_bytes{gpu="0",uuid="GPU-1"} 100
"""


def seen_of(server: str, texts: list[str], exporter: list[str], seconds: float) -> Observation:
    return observe(
        server, [read(text) for text in texts], [read(text) for text in exporter], seconds
    )


def test_increase_between_two_recorded_pages() -> None:
    seen = seen_of("h200", [START, LOADED], [], 60)
    assert seen.requests == 192
    assert seen.hit_rate is not None
    assert 0.5 < seen.hit_rate < 1
    assert seen.configuration.caching is True
    assert seen.configuration.block_tokens == 16
    assert seen.configuration.utilization == 0.9
    assert seen.configuration.cache_tokens == 935_888
    assert seen.gpus == ()


def test_a_restart_counts_from_zero() -> None:
    once = seen_of("h200", [START, LOADED], [], 60)
    again = seen_of("h200", [START, LOADED, START, LOADED], [], 60)
    assert again.looked_up == pytest.approx(2 * once.looked_up)
    assert again.requests == 2 * once.requests


def test_no_increase_is_no_hit_rate() -> None:
    seen = seen_of("h200", [LOADED, LOADED], [], 60)
    assert (seen.looked_up, seen.hit_rate, seen.mean_prompt) == (0, None, None)


def test_caching_off_is_seen() -> None:
    assert seen_of("h200", [OFF, OFF], [], 1).configuration.caching is False


def test_highest_memory_of_the_span_counts() -> None:
    seen = seen_of("a", [START], [EXPORTER % 0.5, EXPORTER % 0.9, EXPORTER % 0.7], 2)
    assert seen.fullest is not None
    assert (seen.fullest.usage, seen.fullest.usable, seen.fullest.others) == (0.9, 900, None)


def test_memory_of_others_is_taken_where_it_is_told() -> None:
    other = 'vllm:gpu_memory_other_bytes{gpu="0",uuid="GPU-1"} 42\n'
    seen = seen_of("a", [START], [EXPORTER % 0.5 + other], 2)
    assert seen.gpus[0].others == 42


def test_gauges_are_averaged_and_engines_joined() -> None:
    page = (
        'vllm:num_requests_running{engine="0"} %d\n'
        'vllm:num_requests_running{engine="1"} 2\n'
        'vllm:kv_cache_usage_perc{engine="0"} 0.1\n'
        'vllm:kv_cache_usage_perc{engine="1"} 0.5\n'
    )
    seen = seen_of("a", [page % 0, page % 4], [], 1)
    assert (seen.running, seen.running_most) == (4, 6)
    assert seen.cache_usage_most == 0.5


def test_labels_without_a_number_are_unknown() -> None:
    told = configuration([{"block_size": "None", "enable_prefix_caching": "True"}])
    assert told is not None
    assert (told.block_tokens, told.utilization, told.caching) == (None, None, True)
    assert configuration([]) is None


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400"])
def test_what_is_no_number_is_left_out(text: str) -> None:
    told = configuration([{"block_size": text, "kv_cache_size_tokens": text}])
    assert told is not None
    assert (told.block_tokens, told.cache_tokens) == (None, None)
    page = 'vllm:num_requests_running 2\nvllm:num_requests_running{a="b"} %s\n'
    assert seen_of("a", [page % text], [], 1).running == 2
