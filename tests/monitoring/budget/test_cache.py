"""The computed capacity against what real servers said of themselves."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitoring.budget import cache, models
from monitoring.budget.architecture import FULL, SLIDING, CacheLayer, read
from monitoring.vllm import model as tiny
from monitoring.vllm.server import CPU_BLOCK_TOKENS, CPU_CACHE_BYTES

RECORDINGS = Path(__file__).parents[2] / "recordings"
GIB = 1024**3
CPU_IN_FLIGHT = 2048  # vLLM's --max-num-batched-tokens on a CPU, one batch at once


def config_info(recording: str) -> dict[str, str]:
    text = (RECORDINGS / recording).read_text()
    for family in text_string_to_metric_families(text):
        if family.name == "vllm:cache_config_info":
            return dict(family.samples[0].labels)
    raise AssertionError(recording)


def told(info: dict[str, str]) -> cache.Capacity:
    return cache.Capacity(
        int(info["num_gpu_blocks"]),
        float(info["kv_cache_max_concurrency"]),
        int(info["kv_cache_size_tokens"]),
    )


def test_llama_shape_on_an_h200() -> None:
    """The log: 114.25 GiB for the cache."""
    info = config_info("h200-vllm-0.25.1/metrics-start.txt")
    pool = cache.layout([CacheLayer(FULL, 8, 128)] * 32, int(info["block_size"]), 2)
    assert cache.capacity(pool, round(114.2451 * GIB), 8192, 2 * 8192) == told(info)
    assert told(info).kv_cache_size_tokens == 935_888


def test_the_h200s_cache_is_what_the_log_says_to_its_last_digit() -> None:
    pool = cache.layout([CacheLayer(FULL, 8, 128)] * 32, 16, 2)
    fewest = cache.capacity(pool, round(114.245 * GIB), 8192, 0).num_gpu_blocks
    most = cache.capacity(pool, round(114.255 * GIB), 8192, 0).num_gpu_blocks
    assert fewest <= 58_493 <= most


@pytest.mark.parametrize("version", ["0.30.0", "0.32.0"])
def test_gemma_4_shape_on_a_cpu(version: str) -> None:
    """Six layers, five of them sliding with a window of 512 tokens."""
    info = config_info(f"cpu-vllm-{version}/metrics-gemma4-after-load.txt")
    layers = [CacheLayer(SLIDING, 1, 256, 512)] * 5 + [CacheLayer(FULL, 1, 512)]
    pool = cache.layout(layers, int(info["block_size"]), 2)
    memory = int(info["kv_cache_memory_bytes"])
    assert cache.capacity(pool, memory, 4096, CPU_IN_FLIGHT) == told(info)
    assert {group.block_tokens for group in pool.groups} == {128, 256}


def test_the_window_is_not_all_that_a_sliding_layer_keeps() -> None:
    """The opposite of the test above: without the tokens in flight the figure is another."""
    layers = [CacheLayer(SLIDING, 1, 256, 512)] * 5 + [CacheLayer(FULL, 1, 512)]
    held = cache.capacity(cache.layout(layers, 128, 2), GIB, 4096, 0)
    assert held.kv_cache_size_tokens > 192_841


def test_the_bundled_tiny_model_on_a_cpu() -> None:
    """vLLM 0.30.0's log: CPU KV cache size: 94,786 tokens, maximum concurrency 23.14x."""
    model = read(tiny.configuration())
    pool = cache.layout(model.layers, CPU_BLOCK_TOKENS, 2)
    held = cache.capacity(pool, CPU_CACHE_BYTES, 4096, CPU_IN_FLIGHT)
    assert held.num_gpu_blocks == 4096
    assert held.kv_cache_size_tokens == 94_786
    assert round(held.kv_cache_max_concurrency, 2) == 23.14


def test_groups_of_gemma_4_31b() -> None:
    pool = cache.layout(models.find("gemma-4-31b").layers, 16, 2)
    kinds = [group.kind for group in pool.groups]
    assert (kinds.count(SLIDING), kinds.count(FULL)) == (5, 1)
    assert pool.block_bytes == 10 * 16 * 2 * 16 * 256 * 2
    # Heads of full layers are half as large in all, so their blocks hold twice the tokens.
    assert next(group for group in pool.groups if group.kind == FULL).block_tokens == 32


def test_layers_of_one_kind_with_unlike_heads_are_one_group() -> None:
    pool = cache.layout([CacheLayer(FULL, 8, 128), CacheLayer(FULL, 2, 64)], 16, 2)
    assert len(pool.groups) == 1
    assert pool.block_bytes == 16 * 2 * 2 * (8 * 128 + 2 * 64)


def test_an_8_bit_cache_holds_twice_the_tokens() -> None:
    layers = models.find("llama-3.1-8b").layers
    plain = cache.capacity(cache.layout(layers, 16, 2), GIB, 4096, 0)
    small = cache.capacity(cache.layout(layers, 16, 1), GIB, 4096, 0)
    assert small.kv_cache_size_tokens == 2 * plain.kv_cache_size_tokens


def test_longest_is_the_last_length_that_fits() -> None:
    pool = cache.layout([CacheLayer(FULL, 8, 128)] * 32, 16, 2)
    memory = 101 * pool.block_bytes  # of which one block is kept back
    assert cache.longest(pool, memory, 1, 0, 10_000) == 1600
    assert cache.longest(pool, memory, 4, 0, 10_000) == 400
    assert cache.longest(pool, memory, 1, 0, 1000) == 1000
    assert cache.longest(pool, pool.block_bytes, 1, 0, 10_000) == 0


def test_what_a_sequence_needs_stops_growing_at_the_window() -> None:
    layers = models.find("gemma-4-31b").layers
    short, long = cache.needed(layers, 1024, 2), cache.needed(layers, 8192, 2)
    assert short[SLIDING] == long[SLIDING] == 50 * 1024 * 2 * 16 * 256 * 2
    assert long[FULL] == 8 * short[FULL]
