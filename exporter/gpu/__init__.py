"""GPU memory readings: the values, and what a backend that reads them must offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class GPUError(Exception):
    """No GPU can be read. The message is one line that says what to do."""


@dataclass(frozen=True)
class GPUMemory:
    """Memory of one GPU, in bytes.

    Attributes:
        total: All of it, the reserved part included.
        used: What processes hold. Where ``reserved`` is None it includes the reserved part.
        free: What can still be allocated.
        reserved: What driver and firmware keep; None where the driver does not tell (before 510).
    """

    total: int
    used: int
    free: int
    reserved: int | None

    @property
    def usage(self) -> float:
        """Used share of what programs can have: used / (total - reserved), 0..1.

        It is the base of nvidia-smi's "used" since driver 510 and of vLLM's
        ``gpu_memory_utilization`` (a share of cudaMemGetInfo's total, which is total - reserved).
        """
        return self.used / (self.total - (self.reserved or 0))


@dataclass(frozen=True)
class GPU:
    """One GPU at one moment.

    Attributes:
        index: NVML index, as nvidia-smi shows it.
        uuid: The identity that survives reboots and reordering.
        name: Product name.
        memory: None where the device has no memory of its own to report.
    """

    index: str
    uuid: str
    name: str
    memory: GPUMemory | None


@dataclass(frozen=True)
class GPUSnapshot:
    """All GPUs at one moment.

    Attributes:
        driver_version: Empty where unknown.
        gpus: Readable GPUs.
        faults: One line for each GPU that could not be read.
    """

    driver_version: str
    gpus: tuple[GPU, ...]
    faults: tuple[str, ...] = ()


class Backend(Protocol):
    """A way to read GPUs."""

    name: str

    def read(self) -> GPUSnapshot:
        """Return the state of all GPUs now.

        Raises:
            GPUError: None can be read.
        """

    def close(self) -> None:
        """Let go of the driver; a later `read` takes it up again."""
