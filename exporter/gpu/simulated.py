"""A GPU that exists only in a file, for machines without one. Never chosen unless asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exporter.files import read_file
from exporter.gpu import GPU, GPUError, GPUMemory, GPUSnapshot, Identity

GIB = 1024**3

MAX_GPU_BYTES = 1 << 50
"""Beyond every card, and exact in the page's floating point."""

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
        # By UUID, as with a real card: one that was there and is gone is lost, not forgotten.
        self._known: dict[str, Identity] = {}

    def read(self) -> GPUSnapshot:
        """Return the GPUs of the file; see `exporter.gpu.Backend`."""
        try:
            gpus = load(self._path)
        except GPUError as error:
            raise GPUError(str(error), tuple(self._known.values())) from error
        there = {gpu.uuid: gpu.identity for gpu in gpus}
        self._known |= there
        lost = tuple(self._known[uuid] for uuid in self._known if uuid not in there)
        faults = tuple(
            f"simulated GPU {identity.uuid}: is no longer in {self._path}; if it was taken out, "
            "restart the exporter"
            for identity in lost
        )
        return GPUSnapshot("simulated", gpus, faults, lost)

    def close(self) -> None:
        """Do nothing: there is no driver."""


def load(path: Path | None) -> tuple[GPU, ...]:
    """Return the GPUs of a file, at least one; those of `DEFAULT` without one.

    Raises:
        GPUError: There is none to be had from it.
    """
    if path is None:
        return _gpus(DEFAULT)
    try:
        return _gpus(json.loads(read_file(path)))
    except OSError as error:
        raise GPUError(
            f"simulated GPU: cannot read {path} ({error.strerror}): correct --gpu.simulated-file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise GPUError(f"simulated GPU: {path} is not as described in --help ({error})") from error


def _gpus(document: Any) -> tuple[GPU, ...]:
    entries = document.get("gpus") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError('it must be a mapping with a list: {"gpus": […]}')
    if not entries:
        raise ValueError("its list of gpus is empty: name one, or start with --gpu.backend none")
    gpus = tuple(_gpu(index, entry) for index, entry in enumerate(entries))
    if len({gpu.uuid for gpu in gpus}) < len(gpus):
        raise ValueError("two gpus have one uuid")
    return gpus


def _gpu(index: int, entry: Any) -> GPU:
    if not isinstance(entry, dict):
        raise ValueError(f"gpus.{index} must be a mapping")
    where = f"gpus.{index}"
    total, used = _bytes(entry, where, "total_bytes"), _bytes(entry, where, "used_bytes")
    reserved = _bytes(entry, where, "reserved_bytes", 0)
    free = total - reserved - used
    if total <= reserved or free < 0:
        raise ValueError(f"{where}: total must exceed reserved, and hold reserved + used")
    return GPU(
        index=str(index),
        uuid=_text(entry, where, "uuid", f"GPU-simulated-{index}"),
        name=_text(entry, where, "name", "Simulated"),
        memory=GPUMemory(total, used, free, reserved),
        utilization=_number(entry, where, "utilization", 0.0, 1.0),
        power_watts=_number(entry, where, "power_watts", 0.0, 1e6),
        temperature_celsius=_number(entry, where, "temperature_celsius", -273.0, 1e6),
    )


def _bytes(entry: dict[str, Any], where: str, key: str, default: int | None = None) -> int:
    value = entry.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_GPU_BYTES:
        raise ValueError(f"{where}.{key} must be a whole number of bytes, from 0 to 2^50")
    return value


def _number(entry: dict[str, Any], where: str, key: str, least: float, most: float) -> float | None:
    if key not in entry:
        return None
    value = entry[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= most:
        raise ValueError(f"{where}.{key} must be a number from {least:g} to {most:g}")
    return float(value)


def _text(entry: dict[str, Any], where: str, key: str, default: str) -> str:
    value = entry.get(key, default)
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{where}.{key} must be one line of text")
    return value
