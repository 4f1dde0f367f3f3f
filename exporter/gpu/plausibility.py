"""Telling readings from the odd numbers with which drivers say "unknown"."""

from __future__ import annotations

from exporter.gpu import GPUMemory, GPUProcess

_LARGEST_PID = 2**22  # Linux' limit; 535.98 gave 2^32 - 1 for structures that it misread
_LARGEST_MEMORY = 2**50
_MILLI = 1000.0
_PER_CENT = 100.0
_MAX_WATTS = 100_000.0
_MAX_CELSIUS = 500.0

HOST_MEMORY_TOLERANCE = 2**20


def memory(total: int, used: int, free: int, reserved: int | None) -> GPUMemory | None:
    """Return the reading in bytes; None if it is none.

    None of total, used and free can be a sentinel (2^64 - 1, 2^63 - 1, …), and together they must
    fit. ``reserved + used + free == total`` is what the second structure gives; where used holds
    the reserved part too (used + free == total), it is taken out.
    """
    kept = reserved or 0
    if not 0 < total < _LARGEST_MEMORY or kept < 0 or used < 0 or free < 0:
        return None
    if kept and used >= kept and used + free == total:
        used -= kept
    usable = total - kept
    if usable <= 0 or used > usable or free > usable:
        return None
    return GPUMemory(total, used, free, reserved)


def ratio(per_cent: float) -> float | None:
    """Return a share (0..1) of a percentage; None if it is none."""
    return per_cent / _PER_CENT if 0 <= per_cent <= _PER_CENT else None


def watts(milliwatts: float) -> float | None:
    """Return watts of milliwatts; None if no board can draw so much."""
    value = milliwatts / _MILLI
    return value if 0 <= value < _MAX_WATTS else None


def celsius(degrees: float) -> float | None:
    """Return ``degrees``; None if no chip can be so hot or cold."""
    return float(degrees) if -_MAX_CELSIUS < degrees < _MAX_CELSIUS else None


def counted(value: float, unit: float) -> float | None:
    """Return a 64-bit count in units of ``unit``; None for a sentinel."""
    return value * unit if 0 <= value < 2**62 else None


def process(pid: int, used: int | None) -> GPUProcess | None:
    """Return one row of a process list; None if it is garbage."""
    if not 0 < pid <= _LARGEST_PID:
        return None
    return GPUProcess(pid, used if used is not None and 0 <= used < _LARGEST_MEMORY else None)
