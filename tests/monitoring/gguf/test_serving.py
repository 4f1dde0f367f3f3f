from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from monitoring.budget.command import command as budget
from monitoring.gguf import serving
from monitoring.options import ChainOptions
from monitoring.vllm import served_model

PYTHON = Path("/opt/vllm/bin/python")


def command(**options: object) -> tuple[str, ...]:
    chain = ChainOptions(tokenizer=Path("/m/text"), **options)  # type: ignore[arg-type]
    return served_model.command(PYTHON, "/m/gemma-4-31B-it-Q4_K_M.gguf", chain).arguments


def test_a_file_is_served_with_the_flags_that_fit_24_gb() -> None:
    found = command()
    for flag in (
        "--model=/m/gemma-4-31B-it-Q4_K_M.gguf",
        "--tokenizer=/m/text",
        "--served-model-name=gemma-4-31B-it-Q4_K_M",
        "--max-model-len=4096",
        "--max-num-seqs=2",
        "--gpu-memory-utilization=0.85",
        *serving.FLAGS,
    ):
        assert flag in found


def test_the_flags_are_those_that_budget_finds() -> None:
    arguments = ["gemma-4-31b", "--weights", "q4_k_m", "--gpu-memory", "24GiB", "--json"]
    proposal = json.loads(CliRunner().invoke(budget, arguments).output)["proposal"]
    assert {flag.replace(" ", "=") for flag in proposal["flags"]} <= set(command())


def test_flags_of_the_user_come_last_and_so_win() -> None:
    found = command(served_name="gemma", flags=("--max-num-seqs=1", "--kv-cache-dtype=auto"))
    assert found[-2:] == ("--max-num-seqs=1", "--kv-cache-dtype=auto")
    assert "--served-model-name=gemma" in found


def test_on_a_cpu_it_is_loaded_and_not_made_up() -> None:
    found = command(model_on_cpu=True, flags=("--max-num-seqs=1",))
    loads = [flag for flag in found if flag.startswith("--load-format")]
    models = [flag for flag in found if flag.startswith("--model=")]
    assert loads[-1] == "--load-format=auto"
    assert models[-1] == "--model=/m/gemma-4-31B-it-Q4_K_M.gguf"
    assert found[-1] == "--max-num-seqs=1"
    assert not any("fp8" in flag for flag in found)


def test_a_name_on_the_hub_takes_tokenizer_and_flags_too() -> None:
    chain = ChainOptions(tokenizer=Path("t"), flags=("--max-num-seqs=64",), served_name="g")
    found = served_model.command(PYTHON, "google/gemma-4-31B-it", chain).arguments
    assert found[-2:] == ("--tokenizer=t", "--max-num-seqs=64")
    assert "--max-num-seqs=8" in found
    assert "--served-model-name=g" in found
    assert json.dumps(found).count("fp8") == 0
