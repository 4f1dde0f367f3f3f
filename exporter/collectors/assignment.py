"""Which GPUs each server uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.assignment import assign
from exporter.gpu import Backend, GPUSnapshot
from exporter.options import Server

log = structlog.get_logger()


class RememberingBackend:
    """A backend that keeps its last reading, for who wants to know it without another one."""

    def __init__(self, backend: Backend) -> None:
        """Take the backend that reads."""
        self._backend = backend
        self.name = backend.name
        self.last: GPUSnapshot | None = None

    def read(self) -> GPUSnapshot:
        """Return the state of all GPUs now; see `exporter.gpu.Backend`."""
        self.last = None
        self.last = self._backend.read()
        return self.last

    def close(self) -> None:
        """Let go of the driver."""
        self._backend.close()


class AssignmentCollector:
    """Maps servers to GPUs. A server of which nobody said has no GPU, except a single one."""

    name = "assignment"

    def __init__(
        self,
        servers: Callable[[], Sequence[Server]],
        gpus: Callable[[], GPUSnapshot | None],
    ) -> None:
        """Take what gives the servers of now and the last reading of the GPUs."""
        self._servers = servers
        self._gpus = gpus
        self._told: set[tuple[str, str]] = set()

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:  # noqa: ARG002 - it never waits
        """Return the family of the map; see `exporter.collectors.Collector`."""
        family = catalogue.SERVER_GPU_INFO.family()
        snapshot = self._gpus()
        if snapshot is None:
            return [], True
        # A lost GPU is told of as such; it is on this host all the same.
        lost = {name for identity in snapshot.lost for name in (identity.index, identity.uuid)}
        servers = self._servers()
        for server in servers:
            if server.gpus is None and len(servers) > 1:
                continue
            assignment = assign(snapshot.gpus, server.gpus)
            for gpu in assignment.gpus:
                family.add_metric([server.name, gpu.index, gpu.uuid], 1)
            self._tell(server.name, [e for e in assignment.unresolved if e not in lost])
        return [family], True

    def _tell(self, server: str, unresolved: Sequence[str]) -> None:
        for entry in unresolved:
            if (server, entry) not in self._told:
                self._told.add((server, entry))
                log.warning("no such GPU on this host", server=server, gpus=entry)
