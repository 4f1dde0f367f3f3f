"""A stand-in for NVML's Python module: made-up GPUs in the states that real ones were seen in.

It counts every call, refuses handles of an NVML that was shut down, and belongs to the process
that initialised it, as the real one does. Figures of the H200 are those of the recordings.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

UNINITIALIZED = 1
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
DRIVER_NOT_LOADED = 9
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
OPERATING_SYSTEM = 17
MISMATCH = 18
ARGUMENT_VERSION_MISMATCH = 25
UNKNOWN = 999

H200_TOTAL = 150_754_820_096
H200_RESERVED = 644_939_776
HOST_MEMORY = 137_438_953_472


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"NVML status {value}")
        self.value = value


@dataclass
class Instance:
    """One MIG device: a compute instance of a GPU instance."""

    gpu_instance: int
    uuid: str
    total: int
    used: int
    processes: list[tuple[int, int | None]] = field(default_factory=list)
    name: str = "NVIDIA H200 MIG 1g.18gb"


@dataclass
class Device:
    """One GPU. ``faults`` maps a call's name, or ``*`` for all, to the status that it gives."""

    uuid: str = "GPU-00000000-1111-2222-3333-444444444444"
    name: str = "NVIDIA H200"
    bus: str = "00000000:1B:00.0"
    total: int = H200_TOTAL
    reserved: int = H200_RESERVED
    used: int = 0
    free: int | None = None
    utilization: int = 0
    milliwatts: int = 76_000
    celsius: int = 31
    processes: list[tuple[int, int | None]] = field(default_factory=list)
    mig: list[Instance | None] | None = None
    faults: dict[str, int] = field(default_factory=dict)


class FakeNVML:
    """The module. ``has_v2`` False is a driver before 510."""

    NVMLError = NVMLError
    nvmlMemory_v2 = 0x02000028  # noqa: N815 - NVML's name
    NVML_TEMPERATURE_GPU = 0
    NVML_PCIE_UTIL_TX_BYTES = 0
    NVML_PCIE_UTIL_RX_BYTES = 1

    def __init__(self, *devices: Device, has_v2: bool = True) -> None:
        self.devices = list(devices)
        self.has_v2 = has_v2
        self.calls: Counter[str] = Counter()
        self.inits = 0
        self.shutdowns = 0
        self.init_faults: list[int] = []
        self.faults: dict[str, int] = {}
        self.counted: int | None = None
        self._owner: int | None = None
        self._generation = 0

    # --- life ---

    def nvmlInit(self) -> None:
        if self.init_faults:
            raise NVMLError(self.init_faults.pop(0))
        self.inits += 1
        self._generation += 1
        self._owner = os.getpid()

    def nvmlShutdown(self) -> None:
        self._check("nvmlShutdown")
        self.shutdowns += 1
        self._owner = None

    # --- all GPUs ---

    def nvmlSystemGetDriverVersion(self) -> str:
        self._check("nvmlSystemGetDriverVersion")
        return "580.159.04"

    def nvmlDeviceGetCount(self) -> int:
        self._check("nvmlDeviceGetCount")
        return len(self.devices) if self.counted is None else self.counted

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        self._check("nvmlDeviceGetHandleByIndex")
        device = self.devices[index]
        self._fault(device, "nvmlDeviceGetHandleByIndex")
        return SimpleNamespace(of=device, generation=self._generation)

    # --- one GPU ---

    def nvmlDeviceGetUUID(self, handle: Any) -> str:
        return str(self._of(handle, "nvmlDeviceGetUUID").uuid)

    def nvmlDeviceGetName(self, handle: Any) -> str:
        return str(self._of(handle, "nvmlDeviceGetName").name)

    def nvmlDeviceGetPciInfo(self, handle: Any) -> Any:
        return SimpleNamespace(busId=self._of(handle, "nvmlDeviceGetPciInfo").bus)

    def nvmlDeviceGetMemoryInfo(self, handle: Any, version: int | None = None) -> Any:
        of = self._of(handle, "nvmlDeviceGetMemoryInfo")
        if version is not None and not self.has_v2:
            raise NVMLError(FUNCTION_NOT_FOUND)
        reserved = getattr(of, "reserved", 0)
        given = getattr(of, "free", None)
        free = of.total - reserved - of.used if given is None else given
        if version is None:
            return SimpleNamespace(total=of.total, used=of.used + reserved, free=free)
        return SimpleNamespace(total=of.total, reserved=reserved, used=of.used, free=free)

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:
        of = self._of(handle, "nvmlDeviceGetUtilizationRates")
        return SimpleNamespace(gpu=of.utilization, memory=0)

    def nvmlDeviceGetPowerUsage(self, handle: Any) -> int:
        return int(self._of(handle, "nvmlDeviceGetPowerUsage").milliwatts)

    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int) -> int:
        return int(self._of(handle, "nvmlDeviceGetTemperature").celsius)

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> list[Any]:
        of = self._of(handle, "nvmlDeviceGetComputeRunningProcesses")
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in of.processes]

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> int:
        self._of(handle, "nvmlDeviceGetTotalEnergyConsumption")
        return 5_000_000

    def nvmlDeviceGetPcieThroughput(self, handle: Any, direction: int) -> int:
        self._of(handle, "nvmlDeviceGetPcieThroughput")
        return 2000 if direction == self.NVML_PCIE_UTIL_TX_BYTES else 3000

    # --- MIG ---

    def nvmlDeviceGetMigMode(self, handle: Any) -> list[int]:
        on = self._of(handle, "nvmlDeviceGetMigMode").mig is not None
        return [int(on), int(on)]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Any) -> int:
        return len(self._of(handle, "nvmlDeviceGetMaxMigDeviceCount").mig)

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any:
        instance = self._of(handle, "nvmlDeviceGetMigDeviceHandleByIndex").mig[index]
        if instance is None:
            raise NVMLError(NOT_FOUND)
        return SimpleNamespace(of=instance, generation=self._generation)

    def nvmlDeviceGetGpuInstanceId(self, handle: Any) -> int:
        return int(self._of(handle, "nvmlDeviceGetGpuInstanceId").gpu_instance)

    # --- checks ---

    def _check(self, call: str) -> None:
        self.calls[call] += 1
        if self._owner != os.getpid():
            raise NVMLError(UNINITIALIZED)
        if call in self.faults:
            raise NVMLError(self.faults[call])

    def _of(self, handle: Any, call: str) -> Any:
        self._check(call)
        if handle.generation != self._generation:
            raise NVMLError(UNINITIALIZED)
        self._fault(handle.of, call)
        return handle.of

    def _fault(self, of: Any, call: str) -> None:
        faults = getattr(of, "faults", {})
        if status := faults.get(call, faults.get("*")):
            raise NVMLError(status)


# --- one fixture for each state ---


def idle_h200() -> FakeNVML:
    return FakeNVML(Device())


def loaded_h200() -> FakeNVML:
    """Ready with ``--gpu-memory-utilization 0.90``, one process, 9 240 576 bytes less than used."""
    return FakeNVML(
        Device(
            used=136_233_943_040,
            utilization=87,
            milliwatts=612_345,
            celsius=64,
            processes=[(4242, 136_224_702_464)],
        )
    )


def old_driver() -> FakeNVML:
    return FakeNVML(Device(used=4 * 2**30), has_v2=False)


def mig() -> FakeNVML:
    """Two GPU instances, the first with two compute instances that report the same memory."""
    gib = 2**30
    return FakeNVML(
        Device(
            used=30 * gib,
            mig=[
                Instance(3, "MIG-a", 18 * gib, 9 * gib, [(101, 4 * gib)]),
                None,
                Instance(3, "MIG-b", 18 * gib, 9 * gib, [(102, 5 * gib)]),
                Instance(5, "MIG-c", 18 * gib, 26 * 2**20),
            ],
            faults={"nvmlDeviceGetUtilizationRates": NOT_SUPPORTED},
        )
    )


def gb10() -> FakeNVML:
    """A GPU that shares the host's memory: it has none of its own to tell of."""
    return FakeNVML(
        Device(
            name="NVIDIA GB10",
            processes=[(4242, 20 * 2**30)],
            faults={
                "nvmlDeviceGetMemoryInfo": NOT_SUPPORTED,
                "nvmlDeviceGetMigMode": NOT_SUPPORTED,
            },
        )
    )


def gb10_that_shows_the_hosts_memory() -> FakeNVML:
    return FakeNVML(
        Device(name="NVIDIA GB10", total=HOST_MEMORY, reserved=0, used=34 * 2**30),
    )


def two_h200(second_fault: int | None = None) -> FakeNVML:
    second = Device(uuid="GPU-second")
    if second_fault:
        second.faults["*"] = second_fault
    return FakeNVML(Device(uuid="GPU-first"), second)


def sentinels() -> FakeNVML:
    unknown = 2**64 - 1
    return FakeNVML(
        Device(
            total=unknown,
            reserved=0,
            used=unknown,
            free=unknown,
            utilization=2**32 - 1,
            milliwatts=2**32 - 1,
            celsius=0x7FFFFFF0,
            processes=[(2**32 - 1, 2**64 - 1), (77, None), (78, 2**64 - 1)],
        )
    )
