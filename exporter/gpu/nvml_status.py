"""What each status of NVML means for a reading: one table.

The numbers are NVML's ABI (nvml.h). They stand here and are not taken from pynvml, because the
module of that name may be another one or missing, which is one of the faults to tell of.
"""

from __future__ import annotations

from enum import Enum, auto


class Meaning(Enum):
    """What to do about a status."""

    ABSENT = auto()
    """This device does not have it, or not for us: no series, and do not ask again."""
    LOST = auto()
    """The device is gone: do not touch its handle again before NVML was initialised anew."""
    LIBRARY = auto()
    """NVML itself is out of order: shut it down and initialise it again after a pause."""
    UNKNOWN = auto()
    """The device cannot be read this time; if none can, it is NVML's fault."""


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
LIB_RM_VERSION_MISMATCH = 18
ARGUMENT_VERSION_MISMATCH = 25
GPU_NOT_FOUND = 28
UNKNOWN = 999

_MEANINGS = {
    NOT_SUPPORTED: Meaning.ABSENT,
    NO_PERMISSION: Meaning.ABSENT,
    NOT_FOUND: Meaning.ABSENT,
    FUNCTION_NOT_FOUND: Meaning.ABSENT,
    ARGUMENT_VERSION_MISMATCH: Meaning.ABSENT,
    GPU_IS_LOST: Meaning.LOST,
    RESET_REQUIRED: Meaning.LOST,
    GPU_NOT_FOUND: Meaning.LOST,
    UNINITIALIZED: Meaning.LIBRARY,
    DRIVER_NOT_LOADED: Meaning.LIBRARY,
    LIBRARY_NOT_FOUND: Meaning.LIBRARY,
    LIB_RM_VERSION_MISMATCH: Meaning.LIBRARY,
}

NO_V2 = frozenset({FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH})
"""Answers of drivers that do not know the second memory structure (before 510)."""

_REMEDIES = {
    LIBRARY_NOT_FOUND: "install the NVIDIA driver, or in a container give it the GPU (--gpus all); "
    "without a GPU, --gpu.backend none",
    DRIVER_NOT_LOADED: "load the NVIDIA driver (nvidia-smi must work)",
    LIB_RM_VERSION_MISMATCH: "the driver was updated: reboot or reload it",
    NO_PERMISSION: "let this user read /dev/nvidia*",
    GPU_IS_LOST: "it fell off the bus: see dmesg for XID 79, reboot",
    RESET_REQUIRED: "stop what uses it and run nvidia-smi --gpu-reset",
    OPERATING_SYSTEM: "if this is a container that lost its devices, restart it",
    UNKNOWN: "if this is a container that lost its devices, restart it",
}


def meaning(status: int) -> Meaning:
    """Return what ``status`` means."""
    return _MEANINGS.get(status, Meaning.UNKNOWN)


def remedy(status: int) -> str:
    """Return what an operator can do about ``status``."""
    return _REMEDIES.get(status, "see nvidia-smi")
