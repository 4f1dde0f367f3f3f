"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from exporter.parameters import shown

GB = 1000**3
GIB = 1024**3

MOST = 1_000_000 * GB
"""Largest size that is believed: no GPU, and no model, comes near it."""

_UNITS = {"gb": GB, "gib": GIB, "mb": 1000**2, "mib": 1024**2, "b": 1}


def parse(text: str) -> int:
    """Return the bytes of a size such as ``24GiB`` or ``18.7GB``.

    Raises:
        ValueError: It is not one. The unit is needed: between GB and GiB lie 7 %.
    """
    match = re.fullmatch(r"\s*([0-9]{0,20}\.?[0-9]{1,20})\s*([A-Za-z]+)\s*", text)
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError(f"{shown(text)} is not a size: write it with its unit, like 24GiB or 24GB")
    size = round(float(match[1]) * unit)
    if not 0 < size <= MOST:
        raise ValueError(f"{shown(text)} must be more than nothing and at most {MOST // GB} GB")
    return size


def show(size: float) -> str:
    """Return a size in both units that are in use."""
    return f"{size / GIB:.2f} GiB ({size / GB:.1f} GB)"
