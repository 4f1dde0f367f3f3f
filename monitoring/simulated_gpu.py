"""The GPU that the exporter shows where it is asked to simulate one."""

from __future__ import annotations

import json
from pathlib import Path

GIB = 1024**3
TOTAL_BYTES = 24 * GIB
RESERVED_BYTES = GIB // 4
NORMAL_USAGE = 0.85
"""What a server holds that was told to take 0.85."""


class SimulatedGPU:
    """Writes the file that the exporter's simulated backend reads at each scrape."""

    def __init__(self, path: Path) -> None:
        """Take the file's path."""
        self._path = path

    def reset(self) -> None:
        """Show normal usage."""
        self.set_usage(NORMAL_USAGE)

    def set_usage(self, usage: float) -> None:
        """Show a usage (0..1): the used share of the total less what is reserved."""
        gpu = {
            "name": "Simulated 24 GiB",
            "total_bytes": TOTAL_BYTES,
            "reserved_bytes": RESERVED_BYTES,
            "used_bytes": round(usage * (TOTAL_BYTES - RESERVED_BYTES)),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_name(self._path.name + ".new")
        unfinished.write_text(json.dumps({"gpus": [gpu]}), encoding="utf-8")
        unfinished.replace(self._path)
