"""What the exporter reads of this host's GPUs."""

from __future__ import annotations

from exporter.metric import ExportedMetric, counter, gauge

GPU_MEMORY_USAGE = gauge(
    "vllm:gpu_memory_usage",
    ("gpu", "uuid"),
    "Used GPU memory divided by total less reserved (0..1), of all processes on the GPU: the base "
    "of nvidia-smi's used and of vLLM's --gpu-memory-utilization.",
)
GPU_MEMORY_USED = gauge(
    "vllm:gpu_memory_used_bytes",
    ("gpu", "uuid"),
    "GPU memory in use by all processes, in bytes.",
)
GPU_MEMORY_FREE = gauge("vllm:gpu_memory_free_bytes", ("gpu", "uuid"), "Free GPU memory in bytes.")
GPU_MEMORY_TOTAL = gauge(
    "vllm:gpu_memory_total_bytes",
    ("gpu", "uuid"),
    "GPU memory in bytes, the part that the driver reserves included.",
)
GPU_MEMORY_RESERVED = gauge(
    "vllm:gpu_memory_reserved_bytes",
    ("gpu", "uuid"),
    "GPU memory that driver and firmware reserve, in bytes. Absent where the driver does not tell.",
)
GPU_MEMORY_PROCESS = gauge(
    "vllm:gpu_memory_process_bytes",
    ("gpu", "uuid", "server"),
    "GPU memory that the server's processes hold, in bytes, some MiB less than what they cost the "
    "GPU; without what cudaMallocManaged gave. Absent where it cannot be told whose they are.",
)
GPU_MEMORY_OTHER = gauge(
    "vllm:gpu_memory_other_bytes",
    ("gpu", "uuid"),
    "Used GPU memory less what the processes of known servers hold, in bytes: who else is there. "
    "Absent on a GPU where no server's process is known, and where the driver hides the reserved "
    "part in the used one.",
)
GPU_UTILIZATION = gauge(
    "vllm:gpu_utilization",
    ("gpu", "uuid"),
    "Share of the driver's last sample period in which any kernel ran (0..1). Not a share of "
    "memory.",
)
GPU_POWER = gauge("vllm:gpu_power_watts", ("gpu", "uuid"), "Power draw of the board in watts.")
GPU_TEMPERATURE = gauge(
    "vllm:gpu_temperature_celsius", ("gpu", "uuid"), "Temperature of the GPU in degrees Celsius."
)
GPU_ENERGY = counter(
    "vllm:gpu_energy_joules_total",
    ("gpu", "uuid"),
    "Energy drawn since the driver was loaded, in joules. Only with --gpu.collect energy.",
)
GPU_PCIE_TRANSMIT = gauge(
    "vllm:gpu_pcie_transmit_bytes_per_second",
    ("gpu", "uuid"),
    "Bytes a second that the GPU sent over PCIe, over 20 ms. Only with --gpu.collect pcie.",
)
GPU_PCIE_RECEIVE = gauge(
    "vllm:gpu_pcie_receive_bytes_per_second",
    ("gpu", "uuid"),
    "Bytes a second that the GPU received over PCIe, over 20 ms. Only with --gpu.collect pcie.",
)
GPU_UP = gauge(
    "vllm:gpu_up",
    ("gpu", "uuid"),
    "1 if the GPU can be read, 0 if it could be and cannot now: lost, in need of a reset, or gone "
    "with its driver.",
)
GPU_INFO = gauge(
    "vllm:gpu_info",
    ("gpu", "uuid", "name", "driver_version", "backend"),
    "Constant 1; identity of the GPU and what read it (nvml, amd, simulated). A MIG instance has "
    'gpu="GPU index/instance id"; its GPU then has no memory of its own.',
)

METRICS: tuple[ExportedMetric, ...] = (
    GPU_MEMORY_USAGE,
    GPU_MEMORY_USED,
    GPU_MEMORY_FREE,
    GPU_MEMORY_TOTAL,
    GPU_MEMORY_RESERVED,
    GPU_MEMORY_PROCESS,
    GPU_MEMORY_OTHER,
    GPU_UTILIZATION,
    GPU_POWER,
    GPU_TEMPERATURE,
    GPU_ENERGY,
    GPU_PCIE_TRANSMIT,
    GPU_PCIE_RECEIVE,
    GPU_INFO,
    GPU_UP,
)
"""All of these, in the order of the documentation."""
