"""A GPU that exists only in a file, for machines without one. Never chosen unless asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exporter.gpu import GPU, GPUError, GPUMemory, GPUSnapshot

GIB = 1024**3

DEFAULT: dict[str, Any] = {
    "gpus": [
        {
            "name": "Simulated 24 GiB",
            "total_bytes": 24 * GIB,
            "reserved_bytes": GIB // 4,
            "used_bytes": int(0.85 * (24 * GIB - GIB // 4)),
        }
    ]
}
"""The card that is shown without a file: 24 GiB, of which a server holds 0.85."""


class SimulatedBackend:
    """Reads made-up GPUs from a JSON file, anew at each reading."""

    name = "simulated"

    def __init__(self, path: Path | None = None) -> None:
        """Take the file: ``{"gpus": [{"name", "total_bytes", "reserved_bytes", "used_bytes"}]}``.

        Each may also have ``uuid``, ``utilization`` (0..1), ``power_watts`` and
        ``temperature_celsius``. Without a file, `DEFAULT` is shown.
        """
        self._path = path

    def read(self) -> GPUSnapshot:
        """Return the GPUs of the file; see `exporter.gpu.Backend`."""
        try:
            text = self._path.read_text(encoding="utf-8") if self._path else json.dumps(DEFAULT)
            gpus = tuple(_gpu(index, entry) for index, entry in enumerate(json.loads(text)["gpus"]))
        except OSError as error:
            raise GPUError(
                f"simulated GPU: cannot read {self._path} ({error.strerror}): correct "
                "--gpu.simulated-file"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise GPUError(
                f"simulated GPU: {self._path} is not as described in --help "
                f"({type(error).__name__}: {error})"
            ) from error
        return GPUSnapshot("simulated", gpus)

    def close(self) -> None:
        """Do nothing: there is no driver."""


def _gpu(index: int, entry: dict[str, Any]) -> GPU:
    total, used = int(entry["total_bytes"]), int(entry["used_bytes"])
    reserved = int(entry.get("reserved_bytes", 0))
    free = total - reserved - used
    if total <= reserved or reserved < 0 or used < 0 or free < 0:
        raise ValueError("bytes must be positive, and used + reserved at most total")
    return GPU(
        index=str(index),
        uuid=str(entry.get("uuid", f"GPU-simulated-{index}")),
        name=str(entry.get("name", "Simulated")),
        memory=GPUMemory(total, used, free, reserved),
        utilization=_number(entry, "utilization"),
        power_watts=_number(entry, "power_watts"),
        temperature_celsius=_number(entry, "temperature_celsius"),
    )


def _number(entry: dict[str, Any], key: str) -> float | None:
    return float(entry[key]) if key in entry else None
