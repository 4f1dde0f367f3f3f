"""The command behind ``make fuzz``; run it as ``python -m tests.fuzz`` in the checkout."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.fuzz import mutation
from tests.fuzz.targets import TARGETS, Target

_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_MEMORY_MIB = 2048
_SECONDS_PER_INPUT = 10


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(sorted(TARGETS)))
@click.option("--seconds", default=600.0, envvar="FUZZ_SECONDS", help="Time for each target.")
@click.option("--seed", default=None, type=int, help="Seed of the random numbers.")
@click.option(
    "--keep",
    default=Path("tests/fuzz/found"),
    type=click.Path(path_type=Path),
    help="Folder for inputs that break something; move them to tests/fuzz/inputs once mended.",
)
@click.option("--plain", is_flag=True, help="Random mutations only, without atheris.")
def main(names: tuple[str, ...], seconds: float, seed: int | None, keep: Path, plain: bool) -> None:
    """Fuzz the exporter's parser and the loaders of its two configuration files."""
    seed = time.time_ns() % 2**31 if seed is None else seed
    guided = not plain and importlib.util.find_spec("atheris") is not None
    how = "guided by coverage (atheris)" if guided else "plain mutations (atheris is not installed)"
    broken = False
    for name in names or tuple(TARGETS):
        began = time.monotonic()
        run = _run_guided if guided else _run_plain
        count, failure = run(name, TARGETS[name], seconds, seed, keep)
        broken |= bool(failure)
        lasted = time.monotonic() - began
        outcome = failure or "all in order"
        print(
            f"{name}: {count} inputs in {lasted:.0f} s, {how}, seed {seed}: {outcome}", flush=True
        )
    sys.exit(1 if broken else 0)


def _run_plain(name: str, target: Target, seconds: float, seed: int, keep: Path) -> tuple[int, str]:
    return mutation.run(target, seconds, seed, keep / name)


def _run_guided(
    name: str, target: Target, seconds: float, seed: int, keep: Path
) -> tuple[int, str]:
    folder = keep / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        corpus = Path(temporary) / "corpus"
        corpus.mkdir()
        for number, body in enumerate(target.seeds):
            (corpus / f"seed-{number}").write_bytes(body)
        dictionary = Path(temporary) / "tokens"
        dictionary.write_text("".join(map(_dictionary_line, target.tokens)))
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.guided", name),
                *(f"-max_total_time={seconds:.0f}", f"-seed={seed}", f"-dict={dictionary}"),
                *(f"-artifact_prefix={folder}/", f"-rss_limit_mb={_MEMORY_MIB}"),
                *(f"-timeout={_SECONDS_PER_INPUT}", "-print_final_stats=1", "-max_len=100000"),
                str(corpus),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    match = _EXECUTED.search(done.stdout)
    count = int(match[1]) if match else 0
    if done.returncode == 0 and match:
        return count, ""
    log = folder / "output.txt"
    log.write_text(done.stdout)
    return count, f"exit code {done.returncode}; inputs and output are in {folder}"


def _dictionary_line(token: bytes) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in token) + '"\n'


if __name__ == "__main__":
    main()
