"""GPU memory, from whichever backend was chosen."""

from __future__ import annotations

import structlog
from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.gpu import Backend, GPUError, GPUSnapshot

log = structlog.get_logger()


class GPUCollector:
    """Reads the backend once a scrape. A GPU that cannot be read has no series, never a 0."""

    name = "gpu"

    def __init__(self, backend: Backend) -> None:
        """Take the backend to read."""
        self._backend = backend
        self._told: frozenset[str] = frozenset()

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:  # noqa: ARG002 - it never waits
        """Return the GPU families; see `exporter.collectors.Collector`."""
        try:
            snapshot = self._backend.read()
        except GPUError as error:
            self._tell([str(error)])
            return [], False
        faults = list(snapshot.faults)
        if not snapshot.gpus and not faults:
            faults = ["the driver answers but shows no GPU: see nvidia-smi"]
        self._tell(faults)
        return families(snapshot, self._backend.name), not faults

    def _tell(self, faults: list[str]) -> None:
        """Log each fault when it is new, and the recovery when none is left."""
        for fault in faults:
            if fault not in self._told:
                log.warning("GPU metrics are missing", backend=self._backend.name, reason=fault)
        if self._told and not faults:
            log.info("GPU metrics are back", backend=self._backend.name)
        self._told = frozenset(faults)


def families(snapshot: GPUSnapshot, backend: str) -> list[Metric]:
    """Return the metric families of ``snapshot``, as read by ``backend``."""
    info = catalogue.GPU_INFO.family()
    usage = catalogue.GPU_MEMORY_USAGE.family()
    used = catalogue.GPU_MEMORY_USED.family()
    free = catalogue.GPU_MEMORY_FREE.family()
    total = catalogue.GPU_MEMORY_TOTAL.family()
    reserved = catalogue.GPU_MEMORY_RESERVED.family()
    for gpu in snapshot.gpus:
        labels = [gpu.index, gpu.uuid]
        info.add_metric([*labels, gpu.name, snapshot.driver_version, backend], 1)
        if gpu.memory is None:
            continue
        usage.add_metric(labels, gpu.memory.usage)
        used.add_metric(labels, gpu.memory.used)
        free.add_metric(labels, gpu.memory.free)
        total.add_metric(labels, gpu.memory.total)
        if gpu.memory.reserved is not None:
            reserved.add_metric(labels, gpu.memory.reserved)
    return [usage, used, free, total, reserved, info]
