"""From readings of GPUs to metric families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.gpu import GPU, GPUSnapshot, Identity
from exporter.metric import ExportedMetric

_READINGS: tuple[tuple[ExportedMetric, str], ...] = (
    (catalogue.GPU_UTILIZATION, "utilization"),
    (catalogue.GPU_POWER, "power_watts"),
    (catalogue.GPU_TEMPERATURE, "temperature_celsius"),
    (catalogue.GPU_ENERGY, "energy_joules"),
    (catalogue.GPU_PCIE_TRANSMIT, "pcie_transmit"),
    (catalogue.GPU_PCIE_RECEIVE, "pcie_receive"),
)

_MEMORY: tuple[tuple[ExportedMetric, str], ...] = (
    (catalogue.GPU_MEMORY_USAGE, "usage"),
    (catalogue.GPU_MEMORY_USED, "used"),
    (catalogue.GPU_MEMORY_FREE, "free"),
    (catalogue.GPU_MEMORY_TOTAL, "total"),
    (catalogue.GPU_MEMORY_RESERVED, "reserved"),
)


def families(
    snapshot: GPUSnapshot, backend: str, shares: Mapping[tuple[GPU, str], int]
) -> list[Metric]:
    """Return the metric families of ``snapshot``; what a GPU does not tell has no sample.

    Args:
        snapshot: The reading.
        backend: What made it.
        shares: Bytes that a server's processes hold, by GPU and server's name.
    """
    info = catalogue.GPU_INFO.family()
    for gpu in snapshot.gpus:
        info.add_metric([gpu.index, gpu.uuid, gpu.name, snapshot.driver_version, backend], 1)
    return [
        *(_readings(metric, snapshot.gpus, "memory", name) for metric, name in _MEMORY),
        *(_readings(metric, snapshot.gpus, None, name) for metric, name in _READINGS),
        *_share_families(snapshot.gpus, shares),
        info,
        *up_families(snapshot.gpus, snapshot.lost),
    ]


def up_families(gpus: Iterable[GPU], lost: Iterable[Identity]) -> list[Metric]:
    """Return the family that tells which GPUs can be read."""
    up = catalogue.GPU_UP.family()
    for gpu in gpus:
        up.add_metric([gpu.index, gpu.uuid], 1)
    for identity in lost:
        up.add_metric([identity.index, identity.uuid], 0)
    return [up]


def _readings(
    metric: ExportedMetric, gpus: Iterable[GPU], part: str | None, attribute: str
) -> Metric:
    family = metric.family()
    for gpu in gpus:
        holder = getattr(gpu, part) if part else gpu
        value = None if holder is None else getattr(holder, attribute)
        if value is not None:
            family.add_metric([gpu.index, gpu.uuid], value)
    return family


def _share_families(
    gpus: Iterable[GPU], shares: Mapping[tuple[GPU, str], int]
) -> tuple[Metric, Metric]:
    known = catalogue.GPU_MEMORY_PROCESS.family()
    others = catalogue.GPU_MEMORY_OTHER.family()
    held: dict[GPU, int] = {}
    for (gpu, server), share in shares.items():
        known.add_metric([gpu.index, gpu.uuid, server], share)
        held[gpu] = held.get(gpu, 0) + share
    for gpu in gpus:
        # With the first structure only, used holds the driver's reserved part, which is nobody's.
        if gpu in held and gpu.memory and gpu.memory.reserved is not None:
            others.add_metric([gpu.index, gpu.uuid], max(0, gpu.memory.used - held[gpu]))
    return known, others
