"""Feeds the exporter mutated pages and configuration files until time is up.

    python tests/fuzz/exporter_inputs.py pages --seconds 600
    python tests/fuzz/exporter_inputs.py config --seconds 600

Whatever comes in, a page must end in families whose values are in range and whose text can be read
back, or in an UpstreamError; a file in a configuration or in a DocumentError of one line. The
first input that does anything else is written to ``--keep`` (make a test of it), and the exit
status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from exporter import config
from exporter.collectors import Snapshot
from exporter.collectors.server_families import Observation, families
from exporter.history import ServerHistory
from exporter.options import Server
from exporter.polling import read
from exporter.upstream import Body, State, UpstreamError
from exporter.yaml_document import DocumentError

TESTS = Path(__file__).parents[1]

TOKENS = [
    *(b"vllm:", b"ray_vllm_", b"_total", b"{", b"}", b'"', b"\\", b"\\n", b",", b"=", b" ", b"\n"),
    *(b"NaN", b"+Inf", b"-1", b"1e400", b"0x1", b"1_0", b"# EOF", b" # {", b"\xff", b"\x00", b"\r"),
    *(b"engine", b"model_name", b"\xc3\xbc", b"9" * 40, b"#", b"\t"),
]
YAML_TOKENS = [
    *(b"- ", b": ", b"\n  ", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"!!python/object:x ", b"null"),
    *(
        b"true",
        b"1",
        b"'",
        b'"',
        b"|",
        b">",
        b"?",
        b"%",
        b"\t",
        b"\x00",
        b"\xff",
        b"\xc3\xbc",
        b"~",
    ),
    *(
        b"servers",
        b"probe",
        b"allow",
        b"url",
        b"gpus",
        b"headers",
        b"timeout",
        b"2001-01-01",
        b".inf",
    ),
]
CONFIG = b"""servers:
  - name: chat
    url: http://10.0.0.5:8000
    headers: {X-Scope-OrgID: chat}
    timeout: 5s
    gpus: [0, GPU-1]
  - url: https://h/x?y=z
probe:
  allow: ["http://10.0.1.*:8000"]
  timeout: 1s
"""


def mutated(seed: bytes, tokens: list[bytes], chance: random.Random) -> bytes:
    """Return ``seed`` after a few cuts, repetitions, insertions and flips."""
    body = bytearray(seed)
    for _ in range(chance.randint(1, 12)):
        at = chance.randint(0, len(body))
        to = min(len(body), at + chance.choice([1, 3, 20, 300]))
        kind = chance.randrange(5)
        if kind == 0:
            del body[at:to]
        elif kind == 1:
            body[at:at] = body[at:to] * chance.choice([1, 2, 50])
        elif kind == 2 and at < len(body):
            body[at] = chance.randrange(256)
        else:
            body[at:at] = chance.choice(tokens)
    return bytes(body)


def check_line(message: str) -> None:
    """Raise AssertionError if ``message`` is not one line."""
    assert message, "an error says nothing"
    assert "\n" not in message, message


def try_page(body: bytes) -> None:
    """Raise AssertionError or what the exporter raises, if it does not cope with ``body``."""
    history = ServerHistory(300.0)
    for moment in (1000.0, 1030.0):
        try:
            reading = read(Body(body, "text/plain"))
        except UpstreamError as error:
            check_line(error.message)
            return
        history.observe(reading, moment, 1.8e9 + moment)
    observation = Observation("s", State.OK, 0.01, reading, history)
    shown = generate_latest(Snapshot(families([observation]))).decode()
    seen = set()
    for family in text_string_to_metric_families(shown):
        for sample in family.samples:
            series = (sample.name, frozenset(sample.labels.items()))
            assert series not in seen, series
            seen.add(series)
            if sample.name.endswith(("_hit_rate", "_limit", "cache_usage", "_up")):
                assert 0 <= sample.value <= 1, series


def try_config(body: bytes) -> None:
    """Raise AssertionError or what the exporter raises, if it does not cope with ``body``."""
    with tempfile.NamedTemporaryFile(suffix=".yml") as file:
        file.write(body)
        file.flush()
        try:
            config.load(Path(file.name), (Server("d", "http://d"),), 5.0)
        except DocumentError as error:
            check_line(str(error))


def main() -> int:
    """Run; see the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["pages", "config"])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-input"))
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 2**32
    chance = random.Random(seed)  # noqa: S311 - no secret depends on it
    attempt: Callable[[bytes], None]
    if arguments.what == "pages":
        paths = [*TESTS.glob("recordings/*/*.txt"), *TESTS.glob("exporter/pages/*.txt")]
        # Mutations of lines that nobody reads would show nothing.
        seeds = [
            b"".join(
                line
                for line in path.read_bytes().splitlines(keepends=True)
                if b"cache" in line
                or b"sleep" in line
                or not line.startswith((b"#", b"vllm", b"py"))
            )
            for path in paths
        ]
        tokens, attempt = TOKENS, try_page
    else:
        seeds, tokens, attempt = [CONFIG], YAML_TOKENS, try_config
    until = time.monotonic() + arguments.seconds
    count = 0
    while time.monotonic() < until:
        body = mutated(chance.choice(seeds), tokens, chance)
        count += 1
        try:
            attempt(body)
        except Exception as error:
            arguments.keep.write_bytes(body)
            print(f"seed {seed}, input {count}: {type(error).__name__}: {error}", file=sys.stderr)
            print(f"kept in {arguments.keep}", file=sys.stderr)
            return 1
    print(f"{arguments.what}: {count} inputs in {arguments.seconds:g} s, seed {seed}: all in order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
