from __future__ import annotations

from pathlib import Path

import pytest

from monitoring.vllm import model, server

PYTHON = Path("/opt/vllm/bin/python")


def test_the_tiny_server_needs_no_weights_no_compiler_and_no_network() -> None:
    command = server.cpu_server(PYTHON, Path("/run/model"), port=8001)
    assert command.arguments[:3] == (str(PYTHON), "-m", "vllm.entrypoints.openai.api_server")
    assert {
        "--model=/run/model",
        "--served-model-name=tiny-gemma4",
        "--host=127.0.0.1",
        "--port=8001",
        "--load-format=dummy",
        "--enforce-eager",
        "--enable-prefix-caching",
    } <= set(command.arguments)
    assert command.environment["HF_HUB_OFFLINE"] == "1"
    assert command.environment["VLLM_NO_USAGE_STATS"] == "1"


def test_the_tiny_servers_sizes_fit_its_model() -> None:
    arguments = server.cpu_server(PYTHON, Path("/run/model")).arguments
    assert f"--max-model-len={model.MAX_MODEL_LENGTH_TOKENS}" in arguments
    # vLLM's CPU attention takes no other blocks.
    assert server.CPU_BLOCK_TOKENS % 32 == 0


def test_one_engine_process_is_asked_for_by_both_its_switches() -> None:
    command = server.cpu_server(PYTHON, Path("/run/model"))
    assert "--distributed-executor-backend=uni" in command.arguments
    assert command.environment["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


def test_further_arguments_come_last_so_that_they_win() -> None:
    extra = ("--max-num-seqs=2",)
    assert server.cpu_server(PYTHON, Path("/m"), extra=extra).arguments[-1:] == extra
    options = server.GPUOptions("google/gemma-4-31b-it", extra=extra)
    assert server.gpu_server(PYTHON, options).arguments[-1:] == extra


def test_a_real_model_gets_the_kits_flags() -> None:
    command = server.gpu_server(PYTHON, server.GPUOptions("google/gemma-4-31b-it"))
    assert command.arguments[3:] == (
        "--model=google/gemma-4-31b-it",
        "--served-model-name=google/gemma-4-31b-it",
        "--host=127.0.0.1",
        "--port=8000",
        "--disable-uvicorn-access-log",
        "--enable-prefix-caching",
        "--block-size=16",
        "--max-model-len=4096",
        "--gpu-memory-utilization=0.85",
        "--max-num-seqs=8",
    )
    # A real model may have to be downloaded, and may use all that the machine has.
    assert not {"HF_HUB_OFFLINE", "OMP_NUM_THREADS"} & set(command.environment)


@pytest.mark.parametrize(
    ("option", "argument"),
    [
        ({"served_name": "gemma"}, "--served-model-name=gemma"),
        ({"prefix_caching": False}, "--no-enable-prefix-caching"),
        ({"block_size": 32}, "--block-size=32"),
        ({"max_model_length": 8192}, "--max-model-len=8192"),
        ({"memory_share": 0.9}, "--gpu-memory-utilization=0.9"),
        ({"max_sequences": 64}, "--max-num-seqs=64"),
    ],
)
def test_each_flag_can_be_chosen(option: dict[str, object], argument: str) -> None:
    options = server.GPUOptions("m", **option)  # type: ignore[arg-type]
    assert argument in server.gpu_server(PYTHON, options).arguments
