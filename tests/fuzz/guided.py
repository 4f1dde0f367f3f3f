"""One target under atheris, which keeps inputs that reach new code and mutates those.

Run as ``python -m tests.fuzz.guided TARGET LIBFUZZER-OPTION… CORPUS`` by `tests.fuzz`; libFuzzer
ends the process itself.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["exporter"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz the target that the command line names."""
    target = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
