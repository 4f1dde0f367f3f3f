"""What came of the servers of `tests.gpu.gguf`, and what to think of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.gpu.likeness import Likeness

SAME, CHANGED = 0.2, 0.7
"""`Likeness.relative` up to which a file is the same model as the reference.

As measured on a CPU, weights rounded to Q8_0 alone make 0.04, those rounded to Q4_0 0.48, another
model's 1.40. On a GPU kernels also take activations in eight bits, and the cache is in fp8. So Q4_0
has the larger limit, unless the reference is made of its own weights (``--of Q4_0``).
"""


@dataclass(frozen=True)
class Result:
    """What came of one server.

    Attributes:
        label: Which.
        start_seconds: From its start until it was ready; None where it never was.
        cache: Its line ``vllm:cache_config_info``.
        likeness: To the reference; None for the reference itself, or without it.
        limit: Of that, as `Likeness.relative`.
        failure: What went wrong, in one line.
    """

    label: str
    start_seconds: float | None = None
    cache: dict[str, str] | None = None
    likeness: Likeness | None = None
    limit: float = SAME
    failure: str | None = None


def markdown(results: Sequence[Result], plugins: dict[str, str]) -> str:
    """Return the results as a table."""
    heads = (
        *("server", "start", "blocks of cache", "tokens compared"),
        *("mean and largest difference of logprobs", "of the spread", "limit"),
        *("first tokens the same (those decided)", "verdict"),
    )
    lines = [
        *(f"- {label}: {text}" for label, text in plugins.items()),
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
        *(row(result) for result in results),
    ]
    return "\n".join(lines) + "\n"


def row(result: Result) -> str:
    """Return a server's line of the table."""
    found = result.likeness
    cells = ["", "", "", "", ""]
    if found:
        cells = [
            str(found.tokens),
            f"{found.mean:.4f}, {found.largest:.4f}",
            f"{found.relative:.1%}",
            f"{result.limit:.0%}",
            f"{found.same_first} of {found.prompts} ({found.same_decided} of {found.decided})",
        ]
    start = "" if result.start_seconds is None else f"{result.start_seconds:.0f} s"
    blocks = (result.cache or {}).get("num_gpu_blocks", "")
    return f"| {' | '.join([result.label, start, blocks, *cells, verdict(result)])} |"


def limit(label: str, of: str) -> float:
    """Return the limit of a server's file against a reference of the weights of a kind."""
    return CHANGED if label.partition("@")[0] == "Q4_0" != of else SAME


def verdict(result: Result) -> str:
    """Return what to think of a server."""
    if result.failure:
        return f"FAILED: {result.failure}"
    if result.likeness:
        return "same model" if result.likeness.within(result.limit) else "ANOTHER MODEL"
    return "reference" if result.label == "reference" else "served, not compared"
