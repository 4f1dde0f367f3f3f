"""Which server a process on a GPU belongs to: the one that one of its ancestors listens for.

vLLM's workers are children of the process that serves its API. So a GPU's process is a server's
if it, or a process above it, listens at the address of the server's URL. That can be told only of
servers on this host and of processes that this user may look at; of the others nothing is said.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import psutil
import structlog

from exporter.options import Server

log = structlog.get_logger()

FOUND_SECONDS = 60.0
"""How long an answer is kept; the look through /proc costs a millisecond or two."""

NOT_FOUND_SECONDS = 5.0
"""How long it is kept that there is none: a server that starts is to be found soon."""

_PORTS = {"http": 80, "https": 443}


class Hidden(Exception):  # noqa: N818 - not an error, but an answer
    """A process exists, and this user may not see what it listens at."""


class System(Protocol):
    """What is asked of the operating system."""

    def addresses(self) -> frozenset[str]:
        """Return the addresses of this host."""

    def lineage(self, pid: int) -> Sequence[int]:
        """Return ``pid`` and its ancestors, nearest first; nothing if there is no such process."""

    def listening(self, pid: int) -> Sequence[tuple[str, int]]:
        """Return addresses and ports at which ``pid`` listens.

        Raises:
            Hidden: It cannot be seen.
        """


class LocalSystem:
    """This host, by psutil."""

    def addresses(self) -> frozenset[str]:
        """Return the addresses of this host."""
        found = psutil.net_if_addrs().values()
        return frozenset(entry.address.split("%")[0] for entries in found for entry in entries)

    def lineage(self, pid: int) -> Sequence[int]:
        """Return ``pid`` and its ancestors; see `System`."""
        try:
            process = psutil.Process(pid)
            return [pid, *(parent.pid for parent in process.parents())]
        except psutil.Error:
            return []

    def listening(self, pid: int) -> Sequence[tuple[str, int]]:
        """Return where ``pid`` listens; see `System`."""
        try:
            connections = psutil.Process(pid).net_connections(kind="tcp")
        except psutil.AccessDenied as error:
            raise Hidden from error
        except psutil.Error:
            return []
        return [(c.laddr.ip, c.laddr.port) for c in connections if c.status == psutil.CONN_LISTEN]


@dataclass(frozen=True)
class _Answer:
    server: str | None
    until: float


class Owners:
    """Tells which server a process belongs to, and remembers it for a while."""

    def __init__(
        self,
        servers: Callable[[], Sequence[Server]],
        system: System | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what gives the servers of now, the operating system, and a clock in seconds."""
        self._servers = servers
        self._system = system or LocalSystem()
        self._monotonic = monotonic
        self._asked_of: Sequence[Server] = ()
        self._answers: dict[int, _Answer] = {}
        self._told = False

    def of(self, pids: Iterable[int]) -> dict[int, str]:
        """Return the server's name for each of ``pids`` that belongs to one."""
        servers = tuple(self._servers())
        if servers != self._asked_of:
            self._asked_of = servers
            self._answers.clear()
        now = self._monotonic()
        wanted = set(pids)
        self._answers = {
            pid: answer
            for pid, answer in self._answers.items()
            if pid in wanted and now < answer.until
        }
        unknown = wanted - self._answers.keys()
        if unknown:
            places = self._places(servers)
            for pid in unknown:
                server = self._find(pid, places) if places else None
                kept = FOUND_SECONDS if server else NOT_FOUND_SECONDS
                self._answers[pid] = _Answer(server, now + kept)
        return {pid: answer.server for pid, answer in self._answers.items() if answer.server}

    def _places(self, servers: Iterable[Server]) -> dict[tuple[str, int], str]:
        """Return the server's name by each address and port at which its process may listen."""
        own = self._system.addresses()
        places: dict[tuple[str, int], str] = {}
        for server in servers:
            parts = urlsplit(server.url)
            port = parts.port or _PORTS[parts.scheme]
            for address in _reached(parts.hostname or "", own):
                places[address, port] = server.name
        return places

    def _find(self, pid: int, places: dict[tuple[str, int], str]) -> str | None:
        hidden = []
        for ancestor in self._system.lineage(pid):
            try:
                listening = self._system.listening(ancestor)
            except Hidden:
                hidden.append(ancestor)
                continue
            for place in listening:
                if place in places:
                    return places[place]
        # What is above a server is the system's and often hidden; a server's own processes are not.
        if pid in hidden and not self._told:
            self._told = True
            log.info(
                "cannot tell whose GPU memory it is: run the exporter as the servers' user or with "
                "both CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
                pid=pid,
            )
        return None


def _reached(host: str, own: frozenset[str]) -> tuple[str, ...]:
    """Return the addresses a listener on this host may have to be reached at ``host``."""
    if host == "localhost":
        return ("127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104 - of others' sockets
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ()  # a name may stand for another host
    if not address.is_loopback and host not in own:
        return ()
    # A socket for all addresses of IPv6 takes IPv4 too; then its address is written so.
    everywhere = ("::",) if address.version == 6 else ("0.0.0.0", "::", f"::ffff:{host}")  # noqa: PLR2004, S104
    return (host, *everywhere)
