"""The fuzzing targets on known inputs: seeds, a few mutations, and what once broke them."""

import random
from pathlib import Path

import pytest

from tests.fuzz import mutation
from tests.fuzz.targets import TARGETS

INPUTS = Path(__file__).parent / "inputs"
"""One folder for each target; an input that `make fuzz` found goes there once it is mended."""

MUTATIONS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_mutations(name):
    target = TARGETS[name]
    chance = random.Random(name)  # noqa: S311 - no secret depends on it
    for seed in target.seeds:
        target.attempt(seed)
    for _ in range(MUTATIONS):
        target.attempt(mutation.mutated(chance.choice(target.seeds), target.tokens, chance))


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_that_broke_it_once(name):
    for path in sorted((INPUTS / name).glob("*")):
        TARGETS[name].attempt(path.read_bytes())


def test_what_breaks_is_kept_and_told(tmp_path):
    def attempt(body):
        assert b"\xff" not in body, "no such byte"

    target = TARGETS["config"]
    broken = type(target)(attempt, [b"\xff" * 50], [b"\xff"])
    count, failure = mutation.run(broken, 5.0, 1, tmp_path / "found")
    assert count == 1
    assert "AssertionError: no such byte" in failure
    (kept,) = (tmp_path / "found").iterdir()
    assert b"\xff" in kept.read_bytes()
