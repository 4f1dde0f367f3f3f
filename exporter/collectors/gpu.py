"""GPUs, from whichever backend was chosen, and who holds their memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

import structlog
from prometheus_client.metrics_core import Metric

from exporter.collectors.gpu_families import families, up_families
from exporter.gpu import GPU, Backend, GPUError, GPUSnapshot
from exporter.workers import SaturatedError, Workers

log = structlog.get_logger()

READING_SECONDS = 5.0
"""Longest wait for the driver. A reading takes less than a millisecond a GPU; one that takes
seconds hangs in the kernel, and the servers' metrics are not to wait for it."""

CLOSING_SECONDS = 0.3

OwnersOf = Callable[[list[int]], dict[int, str]]
"""Gives the server's name for each process that belongs to one."""


class GPUCollector:
    """Reads the backend once a scrape. A GPU that cannot be read has no series but its up = 0."""

    name = "gpu"

    def __init__(self, backend: Backend, owners: OwnersOf = lambda _: {}) -> None:
        """Take the backend to read, and what tells which server a process belongs to."""
        self._backend = backend
        self._owners = owners
        self._told: frozenset[str] = frozenset()
        # One thread: a driver that hangs then holds one thread up and no scrape.
        self._worker = Workers("gpu", threads=1)

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:
        """Return the GPU families; see `exporter.collectors.Collector`."""
        try:
            snapshot = self._read(timeout)
        except GPUError as error:
            self._tell([str(error)])
            return up_families((), error.lost), False
        faults = list(snapshot.faults)
        if not snapshot.gpus and not faults:
            faults = ["the driver answers but shows no GPU: see nvidia-smi"]
        self._tell(faults)
        shares = self._shares(snapshot.gpus)
        return families(snapshot, self._backend.name, shares), not faults

    def close(self) -> None:
        """Let go of the driver, unless it hangs."""
        with suppress(SaturatedError, TimeoutError):
            self._worker.submit(self._backend.close).result(CLOSING_SECONDS)

    def _read(self, timeout: float) -> GPUSnapshot:
        try:
            reading: Future[GPUSnapshot] = self._worker.submit(self._backend.read)
            return reading.result(min(timeout, READING_SECONDS))
        except (SaturatedError, TimeoutError) as error:
            raise GPUError(
                "the driver does not answer: see dmesg; nvidia-smi will hang too"
            ) from error

    def _shares(self, gpus: tuple[GPU, ...]) -> dict[tuple[GPU, str], int]:
        """Return the bytes that each server's processes hold, by GPU and server's name."""
        pids = [process.pid for gpu in gpus for process in gpu.processes]
        owners = self._owners(pids) if pids else {}
        shares: dict[tuple[GPU, str], int] = {}
        for gpu in gpus:
            held = [
                (owners[process.pid], process.used)
                for process in gpu.processes
                if process.pid in owners
            ]
            # With one process whose share the driver does not tell, a sum would be too small.
            untold = {server for server, used in held if used is None}
            for server, used in held:
                if server not in untold and used is not None:
                    shares[gpu, server] = shares.get((gpu, server), 0) + used
        return shares

    def _tell(self, faults: list[str]) -> None:
        """Log each fault when it is new, and the recovery when none is left."""
        for fault in faults:
            if fault not in self._told:
                log.warning("GPU metrics are missing", backend=self._backend.name, reason=fault)
        if self._told and not faults:
            log.info("GPU metrics are back", backend=self._backend.name)
        self._told = frozenset(faults)
