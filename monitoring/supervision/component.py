"""What a supervised program is: its command, where it answers, how patient to be with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Component:
    """One program of the chain.

    Attributes:
        name: Short name; also that of its log.
        command: Program and arguments.
        host: Address on which it listens.
        port: Port on which it listens.
        port_flag: The flag that changes the port, for messages.
        ready_path: Path that answers 200 once the program is ready.
        environment: Variables added to those of the supervisor.
        folder: Working folder; None is the supervisor's own.
        start_seconds: Longest time to become ready.
        stop_seconds: Longest time to end by itself once told to.
        noise: Beginnings of log lines that say nothing about why it ended.
    """

    name: str
    command: tuple[str, ...]
    host: str
    port: int
    port_flag: str
    ready_path: str
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    start_seconds: float = 30.0
    stop_seconds: float = 10.0
    noise: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Root URL, without a slash at the end."""
        return f"http://{self.host}:{self.port}"

    @property
    def ready_url(self) -> str:
        """URL that answers 200 once the program is ready."""
        return self.url + self.ready_path
