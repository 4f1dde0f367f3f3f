"""What one examined thing came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

_MOST_CHARACTERS = 400

Status = Literal["pass", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """One line of the examination.

    Attributes:
        name: What was examined.
        status: pass, warn or fail.
        reason: What was seen.
        remedy: What to do; empty where all is well.
        data: Figures for programs.
    """

    name: str
    status: Status
    reason: str
    remedy: str = ""
    data: dict[str, Any] | None = None

    def as_data(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)


def passed(name: str, reason: str, **data: Any) -> Check:
    """Return a check that found all well."""
    return Check(name, "pass", _line(reason), "", data or None)


def warned(name: str, reason: str, remedy: str, **data: Any) -> Check:
    """Return a check that found something to look at."""
    return Check(name, "warn", _line(reason), remedy, data or None)


def failed(name: str, reason: str, remedy: str, **data: Any) -> Check:
    """Return a check that found a fault."""
    return Check(name, "fail", _line(reason), remedy, data or None)


def _line(text: str) -> str:
    """Return what the server said as a line that does nothing to a terminal."""
    line = "".join(sign if sign.isprintable() else "�" for sign in text)
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
