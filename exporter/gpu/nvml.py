"""GPU memory from NVIDIA's management library."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pynvml

from exporter.gpu import GPU, GPUError, GPUMemory, GPUSnapshot

RETRY_SECONDS = 10.0
"""Pause between two attempts to initialise a library that failed: each costs milliseconds, and a
missing driver rarely comes back within a scrape."""

_LIFE_CYCLE = frozenset(
    {
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND,
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
    }
)
"""Errors after which the library itself has to be initialised again."""

_NO_V2 = frozenset(
    {
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
    }
)
"""Answers of drivers that do not know the second memory structure."""

_REMEDIES: dict[int, str] = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "install the NVIDIA driver, or in a container give it the "
    "GPU (--gpus all); without a GPU, --gpu.backend none",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "load the NVIDIA driver (nvidia-smi must work)",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "the driver was updated: reboot or reload it",
    pynvml.NVML_ERROR_NO_PERMISSION: "let this user read /dev/nvidia*",
    pynvml.NVML_ERROR_UNKNOWN: "if this is a container that lost its devices, restart it",
}


class NVMLBackend:
    """Reads all GPUs through pynvml, initialised at the first reading and kept."""

    name = "nvml"

    def __init__(
        self, library: Any = pynvml, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the library to call and a clock in seconds; nothing is initialised yet.

        Initialisation belongs to the process that reads: NVML does not survive a fork.
        """
        self._nvml = library
        self._monotonic = monotonic
        self._initialised = False
        self._failure = ""
        self._retry_at = 0.0

    def read(self) -> GPUSnapshot:
        """Return all GPUs; see `exporter.gpu.Backend`."""
        self._initialise()
        nvml = self._nvml
        try:
            driver = str(nvml.nvmlSystemGetDriverVersion())
            count = int(nvml.nvmlDeviceGetCount())
        except pynvml.NVMLError as error:
            raise self._give_up(error) from error
        gpus: list[GPU] = []
        faults: list[str] = []
        for index in range(count):
            try:
                gpus.append(self._gpu(index))
            except pynvml.NVMLError as error:
                if error.value in _LIFE_CYCLE:
                    raise self._give_up(error) from error
                faults.append(f"GPU {index}: {error}")
        return GPUSnapshot(driver, tuple(gpus), tuple(faults))

    def close(self) -> None:
        """Shut NVML down, so that the driver can be unloaded or a GPU reset."""
        if self._initialised:
            self._initialised = False
            with contextlib.suppress(pynvml.NVMLError):  # then nothing is left to shut down
                self._nvml.nvmlShutdown()

    def _initialise(self) -> None:
        if self._initialised:
            return
        if self._failure and self._monotonic() < self._retry_at:
            raise GPUError(self._failure)
        try:
            self._nvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise self._give_up(error) from error
        self._initialised = True
        self._failure = ""

    def _give_up(self, error: pynvml.NVMLError) -> GPUError:
        self.close()
        remedy = _REMEDIES.get(error.value, "see nvidia-smi")
        self._failure = f"NVML: {error}: {remedy}"
        self._retry_at = self._monotonic() + RETRY_SECONDS
        return GPUError(self._failure)

    def _gpu(self, index: int) -> GPU:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        return GPU(
            index=str(index),
            uuid=str(nvml.nvmlDeviceGetUUID(handle)),
            name=str(nvml.nvmlDeviceGetName(handle)),
            memory=self._memory(handle),
        )

    def _memory(self, handle: Any) -> GPUMemory | None:
        nvml = self._nvml
        reserved: int | None
        try:
            info = nvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
            reserved = int(info.reserved)
        except pynvml.NVMLError as error:
            if error.value == pynvml.NVML_ERROR_NOT_SUPPORTED:
                return None  # unified memory: the host's RAM is not the GPU's
            if error.value not in _NO_V2:
                raise
            info = nvml.nvmlDeviceGetMemoryInfo(handle)
            reserved = None
        memory = GPUMemory(int(info.total), int(info.used), int(info.free), reserved)
        return memory if _plausible(memory) else None


def _plausible(memory: GPUMemory) -> bool:
    """Tell a reading from the sentinels (2^64 - 1 and the like) that NVML gives for "unknown"."""
    usable = memory.total - (memory.reserved or 0)
    return usable > 0 and 0 <= memory.used <= usable and 0 <= memory.free <= usable
