"""AMD GPUs from AMD's management library, by what its documentation says.

Not tried on a card yet: whoever does is asked to tell.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from exporter.gpu import GPU, GPUError, GPUMemory, GPUProcess, GPUSnapshot, Identity, plausibility
from exporter.gpu.session import Session

log = structlog.get_logger()

# Of amdsmi.h.
_NOT_SUPPORTED = 2
_NOT_YET_IMPLEMENTED = 3
_NO_PERMISSION = 10
_INIT_ERROR = 18
_NOT_INITIALISED = 32
_DRIVER_NOT_LOADED = 34
_NO_DATA = 40

_ABSENT = frozenset({_NOT_SUPPORTED, _NOT_YET_IMPLEMENTED, _NO_PERMISSION, _NO_DATA})
"""The device does not have it, or not for us: no series, and do not ask again."""

_LIBRARY = frozenset({_INIT_ERROR, _NOT_INITIALISED, _DRIVER_NOT_LOADED})
"""The library is out of order: shut it down and initialise it again after a pause."""

_MICROJOULES = 1e-6
_MILLI = 1000.0


def load_library() -> Any:
    """Return AMD's Python module.

    Raises:
        GPUError: There is none.
    """
    try:
        return importlib.import_module("amdsmi")
    except Exception as error:  # it looks for its shared library on import, and fails in many ways
        raise GPUError(
            f"no usable Python module amdsmi ({type(error).__name__}: {error}): install ROCm's "
            "amd-smi-lib and its Python package of the same release"
        ) from error


@dataclass
class _Device:
    identity: Identity
    handle: Any
    name: str
    absent: set[str] = field(default_factory=set)


class AMDBackend:
    """Reads all GPUs; the library is initialised at the first reading and kept."""

    name = "amd"

    def __init__(
        self,
        load: Callable[[], Any] = load_library,
        extras: frozenset[str] = frozenset(),
        monotonic: Callable[[], float] = time.monotonic,
        process_id: Callable[[], int] = os.getpid,
    ) -> None:
        """Take what loads the module, costly readings to make (``energy``), a clock, getpid."""
        self._load = load
        self._extras = extras
        self._session = Session(self._start, self._stop, monotonic, process_id)
        self._smi: Any = None
        self._handles: list[Any] = []
        self._devices: dict[int, _Device] = {}
        self._driver = ""

    def read(self) -> GPUSnapshot:
        """Return all GPUs; see `exporter.gpu.Backend`."""
        known = tuple(device.identity for device in self._devices.values())
        try:
            if self._session.open():
                self._devices.clear()
        except GPUError as error:
            raise GPUError(str(error), known) from error
        gpus: list[GPU] = []
        faults: list[str] = []
        lost: list[Identity] = []
        for position, handle in enumerate(self._handles):
            try:
                gpus.append(self._gpu(self._device(position, handle)))
            except self._smi.AmdSmiException as error:
                if _code(error) in _LIBRARY:
                    raise self._give_up(error, known) from error
                device = self._devices.get(position)
                lost.append(device.identity if device else Identity(str(position), ""))
                faults.append(f"GPU {position}: {error}: see amd-smi")
        if faults and not gpus:
            raise self._give_up(faults[0], lost)
        self._session.works()
        return GPUSnapshot(self._driver, tuple(gpus), tuple(faults), tuple(lost))

    def close(self) -> None:
        """Shut the library down."""
        self._session.close()

    def _start(self) -> None:
        self._smi = self._load()
        try:
            self._smi.amdsmi_init()
            self._handles = list(self._smi.amdsmi_get_processor_handles())
        except self._smi.AmdSmiException as error:
            raise GPUError(_line(error)) from error

    def _stop(self) -> None:
        with contextlib.suppress(self._smi.AmdSmiException):  # then nothing is left to shut down
            self._smi.amdsmi_shut_down()

    def _give_up(self, error: object, known: Any) -> GPUError:
        failed = self._session.fail(_line(error))
        failed.lost = tuple(known)
        return failed

    def _device(self, position: int, handle: Any) -> _Device:
        device = self._devices.get(position)
        if device is None:
            smi = self._smi
            uuid = str(smi.amdsmi_get_gpu_device_uuid(handle))
            name = str(smi.amdsmi_get_gpu_asic_info(handle).get("market_name", "AMD GPU"))
            device = _Device(Identity(str(position), uuid), handle, name)
            self._devices[position] = device
            if not self._driver:
                driver = smi.amdsmi_get_gpu_driver_info(handle)
                self._driver = str(driver.get("driver_version", ""))
        return device

    def _gpu(self, device: _Device) -> GPU:
        smi, handle = self._smi, device.handle
        busy = self._optional(
            device,
            "utilization",
            lambda: _number(smi.amdsmi_get_gpu_activity(handle), "gfx_activity"),
        )
        power = self._optional(device, "power", lambda: _power(smi.amdsmi_get_power_info(handle)))
        heat = self._optional(
            device,
            "temperature",
            lambda: smi.amdsmi_get_temp_metric(
                handle,
                smi.AmdSmiTemperatureType.HOTSPOT,
                smi.AmdSmiTemperatureMetric.CURRENT,
            ),
        )
        energy = None
        if "energy" in self._extras:
            energy = self._optional(
                device, "energy", lambda: _energy(smi.amdsmi_get_energy_count(handle))
            )
        return GPU(
            index=device.identity.index,
            uuid=device.identity.uuid,
            name=device.name,
            memory=self._optional(device, "memory", lambda: self._memory(handle)),
            utilization=None if busy is None else plausibility.ratio(busy),
            power_watts=None if power is None else plausibility.watts(power * _MILLI),
            temperature_celsius=None if heat is None else plausibility.celsius(heat),
            energy_joules=energy,
            processes=self._optional(device, "processes", lambda: self._processes(handle)) or (),
        )

    def _memory(self, handle: Any) -> GPUMemory | None:
        smi = self._smi
        kind = smi.AmdSmiMemoryType.VRAM
        total = int(smi.amdsmi_get_gpu_memory_total(handle, kind))
        used = int(smi.amdsmi_get_gpu_memory_usage(handle, kind))
        return plausibility.memory(total, used, total - used, None)

    def _processes(self, handle: Any) -> tuple[GPUProcess, ...]:
        found = []
        for row in self._smi.amdsmi_get_gpu_process_list(handle):
            memory = _number(row.get("memory_usage", {}), "vram_mem")
            pid = int(row.get("pid", 0))
            found.append(plausibility.process(pid, None if memory is None else int(memory)))
        return tuple(process for process in found if process)

    def _optional(self, device: _Device, reading: str, ask: Callable[[], Any]) -> Any:
        """Return what ``ask`` gives, None if the device does not have it; then never ask again."""
        if reading in device.absent:
            return None
        try:
            return ask()
        except self._smi.AmdSmiException as error:
            if _code(error) not in _ABSENT:
                raise
            device.absent.add(reading)
            log.info(
                "GPU does not tell",
                gpu=device.identity.index,
                reading=reading,
                reason=str(error),
            )
            return None


def _code(error: Exception) -> int:
    return int(getattr(error, "err_code", 0))


def _line(error: object) -> str:
    return f"AMD SMI: {error}: load the amdgpu driver and let this user read /dev/kfd and /dev/dri"


def _number(values: Any, key: str) -> float | None:
    """Return a number of one of the library's dictionaries; it writes "N/A" for unknown."""
    value = values.get(key)
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None


def _power(info: Any) -> float | None:
    """Return watts: which key has them depends on the series of the card."""
    keys = ("socket_power", "current_socket_power", "average_socket_power")
    return next((watts for watts in (_number(info, key) for key in keys) if watts), None)


def _energy(count: Any) -> float | None:
    """Return joules; the accumulator counts in units of the resolution, in µJ."""
    ticks = _number(count, "energy_accumulator")
    if ticks is None:
        ticks = _number(count, "power")  # its name before ROCm 6.4
    resolution = _number(count, "counter_resolution")
    if ticks is None or resolution is None:
        return None
    return plausibility.counted(ticks * resolution, _MICROJOULES)
