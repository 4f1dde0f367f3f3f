"""What one GPU says through NVML, its MIG instances included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog

from exporter.gpu import GPU, GPUMemory, GPUProcess, Identity, nvml_status, plausibility
from exporter.gpu.nvml_status import Meaning

log = structlog.get_logger()

_JOULES = 0.001  # NVML counts energy in mJ
_BYTES = 1000.0  # and PCIe throughput in KB/s
_NO_UUID = "00000000-0000-0000-0000-000000000000"


@dataclass
class Device:
    """One GPU with what never changes while NVML is initialised.

    Attributes:
        identity: Which it is.
        handle: NVML's.
        name: Product name.
        absent: Readings that it does not have; not asked for again.
    """

    identity: Identity
    handle: Any
    name: str
    absent: set[str] = field(default_factory=set)


class DeviceReader:
    """Reads devices through one NVML. Its methods raise NVML's own error."""

    def __init__(
        self, library: Any, extras: frozenset[str], host_memory: Callable[[], int]
    ) -> None:
        """Take NVML, costly readings to make too, and what gives the host's memory in bytes."""
        self._nvml = library
        self._extras = extras
        self._host_memory = host_memory
        self._has_v2 = True

    def open(self, index: int) -> Device:
        """Return the device with that index."""
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = str(nvml.nvmlDeviceGetUUID(handle))
        if uuid.endswith(_NO_UUID):
            # Some guests and boards have none; where it sits identifies it as well.
            uuid = f"PCI-{nvml.nvmlDeviceGetPciInfo(handle).busId}"
        return Device(Identity(str(index), uuid), handle, str(nvml.nvmlDeviceGetName(handle)))

    def read(self, device: Device) -> list[GPU]:
        """Return the GPU and, in MIG mode, its instances after it."""
        nvml, handle = self._nvml, device.handle
        mig = self._optional(device, "mig", lambda: nvml.nvmlDeviceGetMigMode(handle)[0])
        board = self._board(device)
        if mig:
            # Memory, utilization and processes are those of the instances.
            return [board, *self._instances(device)]
        busy = self._optional(
            device, "utilization", lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu
        )
        return [
            replace(
                board,
                memory=self._optional(device, "memory", lambda: self._memory(handle)),
                utilization=None if busy is None else plausibility.ratio(busy),
                processes=self._optional(device, "processes", lambda: self._processes(handle))
                or (),
            )
        ]

    def _board(self, device: Device) -> GPU:
        nvml, handle = self._nvml, device.handle
        power = self._optional(device, "power", lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        heat = self._optional(
            device,
            "temperature",
            lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        )
        energy = sent = received = None
        if "energy" in self._extras:
            energy = self._optional(
                device, "energy", lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
            )
        if "pcie" in self._extras:
            sent = self._pcie(device, nvml.NVML_PCIE_UTIL_TX_BYTES)
            received = self._pcie(device, nvml.NVML_PCIE_UTIL_RX_BYTES)
        return GPU(
            index=device.identity.index,
            uuid=device.identity.uuid,
            name=device.name,
            memory=None,
            power_watts=None if power is None else plausibility.watts(power),
            temperature_celsius=None if heat is None else plausibility.celsius(heat),
            energy_joules=None if energy is None else plausibility.counted(energy, _JOULES),
            pcie_transmit=sent,
            pcie_receive=received,
        )

    def _pcie(self, device: Device, direction: Any) -> float | None:
        kilobytes = self._optional(
            device,
            "pcie",
            lambda: self._nvml.nvmlDeviceGetPcieThroughput(device.handle, direction),
        )
        # An unsigned int; the last few values of the signed half mean "blank".
        known = kilobytes is not None and kilobytes < 0x7FFFFFF0  # noqa: PLR2004
        return kilobytes * _BYTES if kilobytes is not None and known else None

    def _instances(self, device: Device) -> list[GPU]:
        """Return one GPU for each GPU instance: its compute instances share one memory.

        Enumerated anew each time, since instances come and go and NVML uses their handles again.
        """
        instances: dict[int, GPU] = {}
        for handle in self._mig_handles(device):
            instance = int(self._nvml.nvmlDeviceGetGpuInstanceId(handle))
            uuid = str(self._nvml.nvmlDeviceGetUUID(handle))
            processes = self._absent_as_none(partial(self._processes, handle)) or ()
            before = instances.get(instance)
            if before is None:
                instances[instance] = GPU(
                    index=f"{device.identity.index}/{instance}",
                    uuid=uuid,
                    name=str(self._nvml.nvmlDeviceGetName(handle)),
                    memory=self._absent_as_none(partial(self._memory, handle)),
                    processes=processes,
                )
            else:
                merged = {process.pid: process for process in (*before.processes, *processes)}
                instances[instance] = replace(
                    before,
                    processes=tuple(merged.values()),
                    aliases=(*before.aliases, uuid),
                )
        return [instances[instance] for instance in sorted(instances)]

    def _mig_handles(self, device: Device) -> Iterator[Any]:
        nvml = self._nvml
        for position in range(int(nvml.nvmlDeviceGetMaxMigDeviceCount(device.handle))):
            try:
                yield nvml.nvmlDeviceGetMigDeviceHandleByIndex(device.handle, position)
            except nvml.NVMLError as error:
                # Positions have gaps, and instances of others may be hidden from us.
                if nvml_status.meaning(error.value) is not Meaning.ABSENT:
                    raise

    def _memory(self, handle: Any) -> GPUMemory | None:
        nvml = self._nvml
        if self._has_v2:
            try:
                info = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
            except nvml.NVMLError as error:
                if error.value not in nvml_status.NO_V2:
                    raise
                self._has_v2 = False
            else:
                return self._own(info, int(info.reserved))
        return self._own(nvml.nvmlDeviceGetMemoryInfo(handle), None)

    def _own(self, info: Any, reserved: int | None) -> GPUMemory | None:
        # Where CPU and GPU share one memory, most drivers answer NOT_SUPPORTED, but one was seen
        # to give all of the host's as the GPU's.
        if abs(int(info.total) - self._host_memory()) < plausibility.HOST_MEMORY_TOLERANCE:
            return None
        return plausibility.memory(int(info.total), int(info.used), int(info.free), reserved)

    def _processes(self, handle: Any) -> tuple[GPUProcess, ...]:
        rows = self._nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        found = (plausibility.process(int(row.pid), row.usedGpuMemory) for row in rows)
        return tuple(process for process in found if process)

    def _optional(self, device: Device, reading: str, ask: Callable[[], Any]) -> Any:
        """Return what ``ask`` gives, None if the device does not have it; then never ask again."""
        if reading in device.absent:
            return None
        try:
            return ask()
        except self._nvml.NVMLError as error:
            if nvml_status.meaning(error.value) is not Meaning.ABSENT:
                raise
            device.absent.add(reading)
            if reading != "mig":  # only a few GPUs have it, and no series is missing
                log.info(
                    "GPU does not tell",
                    gpu=device.identity.index,
                    reading=reading,
                    reason=str(error),
                )
            return None

    def _absent_as_none(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except self._nvml.NVMLError as error:
            if nvml_status.meaning(error.value) is not Meaning.ABSENT:
                raise
            return None
