"""All GPUs of this host from NVIDIA's management library."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog

from exporter.gpu import GPU, GPUError, GPUSnapshot, Identity, nvml_status
from exporter.gpu.nvml_device import Device, DeviceReader
from exporter.gpu.nvml_status import Meaning
from exporter.gpu.session import Session

log = structlog.get_logger()

REVIVAL_SECONDS = 300.0
"""How long a lost GPU is left alone: looking for it means to initialise NVML anew for all."""

_NEEDED = (
    "NVMLError",
    "nvmlInit",
    "nvmlShutdown",
    "nvmlMemory_v2",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetComputeRunningProcesses",
)


def load_library() -> Any:
    """Return NVIDIA's Python module.

    Raises:
        GPUError: There is none, or another module of its name comes first.
    """
    try:
        library = importlib.import_module("pynvml")
    except ImportError as error:
        raise GPUError(
            f"no Python module pynvml ({error}): pip install nvidia-ml-py, or --gpu.backend none"
        ) from error
    if missing := [name for name in _NEEDED if not hasattr(library, name)]:
        raise GPUError(
            f"the Python module pynvml at {getattr(library, '__file__', None)} is not that of "
            f"nvidia-ml-py (it lacks {missing[0]}): pip uninstall pynvml, then "
            "pip install --force-reinstall nvidia-ml-py"
        )
    return library


def _host_memory() -> int:
    # Asked at each reading, since a guest's memory can grow; /proc/meminfo costs more than NVML.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class NVMLBackend:
    """Reads all GPUs; NVML is initialised at the first reading and kept."""

    name = "nvml"

    def __init__(
        self,
        load: Callable[[], Any] = load_library,
        extras: frozenset[str] = frozenset(),
        monotonic: Callable[[], float] = time.monotonic,
        process_id: Callable[[], int] = os.getpid,
        host_memory: Callable[[], int] = _host_memory,
    ) -> None:
        """Take what loads NVML's module, costly readings to make, a clock, getpid, host memory.

        Args:
            load: Returns NVML's Python module.
            extras: Of ``energy`` (3 ms each GPU) and ``pcie`` (40 ms each GPU).
            monotonic: Seconds of a clock that never steps.
            process_id: The process that asks.
            host_memory: Bytes of this host's memory.
        """
        self._load = load
        self._extras = extras
        self._monotonic = monotonic
        self._host_memory = host_memory
        self._session = Session(self._start, self._stop, monotonic, process_id)
        self._nvml: Any = None
        self._reader: DeviceReader | None = None
        self._driver = ""
        self._devices: dict[int, Device] = {}
        self._lost: dict[int, tuple[Identity, str]] = {}
        self._hidden: set[int] = set()
        self._revive_at = 0.0
        # By UUID; outlives NVML, so that a GPU that is gone can be named.
        self._known: dict[str, Identity] = {}

    def read(self) -> GPUSnapshot:
        """Return all GPUs; see `exporter.gpu.Backend`."""
        if self._lost and self._monotonic() >= self._revive_at:
            self._session.close()
        try:
            if self._session.open():
                self._forget()
        except GPUError as error:
            raise GPUError(str(error), tuple(self._known.values())) from error
        assert self._reader is not None  # noqa: S101 - set by _start
        try:
            self._driver = self._driver or str(self._nvml.nvmlSystemGetDriverVersion())
            count = int(self._nvml.nvmlDeviceGetCount())
        except self._nvml.NVMLError as error:
            raise self._give_up(error) from error
        return self._snapshot(self._reader, count)

    def close(self) -> None:
        """Shut NVML down, so that the driver can be unloaded or a GPU reset."""
        self._session.close()

    def _snapshot(self, reader: DeviceReader, count: int) -> GPUSnapshot:
        gpus: list[GPU] = []
        faults: dict[Identity, str] = {}
        last: Any = None
        # Some drivers no longer count a lost GPU, so devices that are open stay asked for.
        for position in sorted({*range(count), *self._devices}):
            if position in self._lost or position in self._hidden:
                continue
            try:
                gpus += reader.read(self._device(reader, position))
            except self._nvml.NVMLError as error:
                last = error
                if fault := self._note(position, error):
                    faults[self._identity(position)] = fault
        if faults and not gpus and not self._lost:
            raise self._give_up(last)
        self._session.works()
        faults |= dict(self._lost.values())
        faults |= self._gone(faults)
        lost = tuple(sorted(faults, key=lambda identity: int(identity.index)))
        lines = tuple(faults[identity] for identity in lost)
        return GPUSnapshot(self._driver, tuple(gpus), lines, lost)

    def _device(self, reader: DeviceReader, position: int) -> Device:
        device = self._devices.get(position)
        if device is None:
            device = self._devices[position] = reader.open(position)
            self._known[device.identity.uuid] = device.identity
        return device

    def _note(self, position: int, error: Any) -> str:
        """Take note of one GPU's error and return its line, if it is one of this reading only.

        Raises:
            GPUError: It is NVML's as a whole.
        """
        meaning = nvml_status.meaning(error.value)
        line = f"GPU {position}: {error}: {nvml_status.remedy(error.value)}"
        if meaning is Meaning.LIBRARY:
            raise self._give_up(error) from error
        if meaning is Meaning.LOST:
            if not self._lost:
                self._revive_at = self._monotonic() + REVIVAL_SECONDS
            self._lost[position] = self._identity(position), line
            self._devices.pop(position, None)
            return ""
        if meaning is Meaning.ABSENT and position not in self._devices:
            self._hidden.add(position)  # counted, but not for this user: not ours to watch
            log.info("GPU left out", reason=line)
            return ""
        return line

    def _gone(self, faults: Mapping[Identity, str]) -> dict[Identity, str]:
        """Return the GPUs that were there under an NVML before and are not counted any more."""
        seen = {device.identity.uuid for device in self._devices.values()}
        seen |= {identity.uuid for identity in faults}
        return {
            identity: f"GPU {identity.index}: is no longer there: see dmesg; if it was taken out, "
            "restart the exporter"
            for uuid, identity in self._known.items()
            if uuid not in seen
        }

    def _identity(self, position: int) -> Identity:
        if position in self._devices:
            return self._devices[position].identity
        index = str(position)
        before = (known for known in self._known.values() if known.index == index)
        return next(before, Identity(index, ""))

    def _give_up(self, error: Any) -> GPUError:
        failed = self._session.fail(f"NVML: {error}: {nvml_status.remedy(error.value)}")
        failed.lost = tuple(self._known.values())
        return failed

    def _start(self) -> None:
        self._nvml = self._load()
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            raise GPUError(f"NVML: {error}: {nvml_status.remedy(error.value)}") from error
        self._reader = DeviceReader(self._nvml, self._extras, self._host_memory)

    def _stop(self) -> None:
        with contextlib.suppress(self._nvml.NVMLError):  # then nothing is left to shut down
            self._nvml.nvmlShutdown()

    def _forget(self) -> None:
        """Drop what belonged to the NVML before: handles, and which GPUs it had lost."""
        self._driver = ""
        self._devices.clear()
        self._lost.clear()
        self._hidden.clear()
