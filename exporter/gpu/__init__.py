"""GPU readings: the values, and what a backend that reads them must offer.

Everything that a GPU does not tell is None and has no series: a figure is never made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Identity:
    """Which GPU.

    Attributes:
        index: NVML index, as nvidia-smi shows it; of a MIG instance ``GPU index/instance id``, as
            in ``MIG-GPU-<uuid>/<gi>/<ci>``.
        uuid: What survives reboots and reordering; empty where it could never be read.
    """

    index: str
    uuid: str


class GPUError(Exception):
    """No GPU can be read. The message is one line that says what to do."""

    def __init__(self, message: str, lost: Sequence[Identity] = ()) -> None:
        """Take the message, and the GPUs that could be read before."""
        super().__init__(message)
        self.lost = tuple(lost)


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
class GPUProcess:
    """What one process holds on a GPU: bytes, None where the driver does not tell."""

    pid: int
    used: int | None


@dataclass(frozen=True)
class GPU:
    """One GPU, or one MIG instance, at one moment.

    Attributes:
        index: See `Identity`.
        uuid: See `Identity`.
        name: Product name.
        memory: None where the device has no memory of its own to report, and for a GPU in MIG
            mode, whose instances report it.
        utilization: Share of the last sample period in which a kernel ran (0..1).
        power_watts: Present draw of the board.
        temperature_celsius: Of the GPU's core.
        energy_joules: Since the driver was loaded; only if asked for.
        pcie_transmit: Bytes a second from the GPU; only if asked for.
        pcie_receive: Bytes a second to the GPU; only if asked for.
        processes: Compute processes, as far as the driver shows them.
        aliases: Further UUIDs of the same thing: the compute instances of a MIG instance.
    """

    index: str
    uuid: str
    name: str
    memory: GPUMemory | None
    utilization: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    energy_joules: float | None = None
    pcie_transmit: float | None = None
    pcie_receive: float | None = None
    processes: tuple[GPUProcess, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def identity(self) -> Identity:
        """Return which GPU this is."""
        return Identity(self.index, self.uuid)


@dataclass(frozen=True)
class GPUSnapshot:
    """All GPUs at one moment.

    Attributes:
        driver_version: Empty where unknown.
        gpus: Readable GPUs.
        faults: One line for each GPU that could not be read.
        lost: Those GPUs.
    """

    driver_version: str
    gpus: tuple[GPU, ...]
    faults: tuple[str, ...] = ()
    lost: tuple[Identity, ...] = ()


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
