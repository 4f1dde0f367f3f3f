"""Every metric that the exporter reads from vLLM and every metric that it exports.

The rest of the exporter, the dashboards, the alerts and their tests take names from here and
nowhere else, so that a name which nobody emits cannot be queried.

The two headline gauges carry the prefix ``vllm:`` although the exporter makes them: the guides
that operators follow call them so. No vLLM release up to 0.33 exports either name.
"""

from __future__ import annotations

from exporter.generations import (
    CACHE_CONFIG_INFO,
    PREFIX_CACHE_HITS,
    PREFIX_CACHE_QUERIES,
    PREFIX_CACHE_QUERIES_CREATED,
    READ,
    SERIES_PREFIX,
)
from exporter.metric import ExportedMetric, counter, gauge

__all__ = [
    "CACHE_CONFIG_INFO",
    "EXPORTED",
    "PREFIX_CACHE_HITS",
    "PREFIX_CACHE_QUERIES",
    "PREFIX_CACHE_QUERIES_CREATED",
    "READ",
    "SERIES_PREFIX",
    "ExportedMetric",
]

# Names read from vLLM's page come from exporter.generations, which has them for every release.

# --- exported -----------------------------------------------------------------------------------


PREFIX_CACHE_HIT_RATE = gauge(
    "vllm:prefix_cache_hit_rate",
    ("server", "model_name"),
    "Prompt tokens found in the prefix cache divided by prompt tokens looked up, over the trailing "
    "window, all engines of the model together (0..1). Absent while nothing was looked up.",
)
PREFIX_CACHE_WINDOW_QUERY_TOKENS = gauge(
    "vllm:prefix_cache_window_query_tokens",
    ("server", "model_name"),
    "Prompt tokens looked up in the prefix cache over the trailing window: the denominator of "
    "vllm:prefix_cache_hit_rate. With vLLM 0.7 to 0.8.5 blocks, not tokens.",
)
EXTERNAL_PREFIX_CACHE_HIT_RATE = gauge(
    "vllm:external_prefix_cache_hit_rate",
    ("server", "model_name"),
    "Prompt tokens found by the KV connector divided by prompt tokens asked of it, over the "
    "trailing window (0..1). Absent while none was asked.",
)
MM_CACHE_HIT_RATE = gauge(
    "vllm:mm_cache_hit_rate",
    ("server", "model_name"),
    "Multimodal items found in their cache divided by items looked up, over the trailing window "
    "(0..1). Absent while none was looked up.",
)
KV_CACHE_USAGE = gauge(
    "vllm:kv_cache_usage",
    ("server", "model_name"),
    "Used share of the KV cache (0..1), the fullest engine of the model; blocks that are only kept "
    "for reuse count as free. vLLM refreshes it only while it works on requests.",
)
GPU_MEMORY_UTILIZATION_LIMIT = gauge(
    "vllm:gpu_memory_utilization_limit",
    ("server",),
    "Fraction of the GPU's memory that vLLM was told to take (--gpu-memory-utilization, 0..1).",
)
SERVER_GPU_INFO = gauge(
    "vllm:server_gpu_info",
    ("server", "gpu", "uuid"),
    "Constant 1 for each GPU that the server was configured to use.",
)

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

BUILD_INFO = gauge(
    "vllm_exporter_build_info",
    ("version", "python_version"),
    "Constant 1; version of the exporter.",
)
UPSTREAM_UP = gauge(
    "vllm_exporter_upstream_up",
    ("server",),
    "1 if the server's page was fetched and is vLLM's, else 0.",
)
UPSTREAM_STATE = gauge(
    "vllm_exporter_upstream_state",
    ("server", "state"),
    "1 for what the last fetch of the server's page came to, 0 for the other states: ok, "
    "unreachable, timeout, unauthorized, http_error, not_vllm, invalid.",
)
UPSTREAM_DURATION = gauge(
    "vllm_exporter_upstream_duration_seconds",
    ("server",),
    "Seconds that fetching the server's page took, failed or not.",
)
UPSTREAM_INFO = gauge(
    "vllm_exporter_upstream_info",
    ("server", "generation", "spelling", "format"),
    "Constant 1; which of vLLM's names for the prefix cache were read (none: there were none), in "
    "which spelling, from which format of page.",
)
UPSTREAM_START_TIME = gauge(
    "vllm_exporter_upstream_start_time_seconds",
    ("server",),
    "Unix time in seconds since when the server's counters count, hence its cache fills: their "
    "birth where vLLM tells it, else the last restart seen, else the first page seen.",
)
UPSTREAM_LAST_SUCCESS = gauge(
    "vllm_exporter_upstream_last_success_timestamp_seconds",
    ("server",),
    "Unix time in seconds of the last page of the server that was read. Absent before the first.",
)
UPSTREAM_FAILURES = counter(
    "vllm_exporter_upstream_failures_total",
    ("server",),
    "Fetches of the server's page that did not come to state ok.",
)
UPSTREAM_PARSE_ERRORS = counter(
    "vllm_exporter_upstream_parse_errors_total",
    ("server",),
    "Wanted lines of the server's pages that could not be used: malformed, contradictory, negative "
    "or not a finite number. Each costs only itself.",
)
UPSTREAM_COUNTER_RESETS = counter(
    "vllm_exporter_upstream_resets_total",
    ("server",),
    "Pages on which a cache's counters of the server had begun anew, as after a restart.",
)
UPSTREAM_EXCESS_HITS = counter(
    "vllm_exporter_upstream_excess_hits_total",
    ("server",),
    "Pages between which more hits than look-ups were counted; the hit rate is held at 1.",
)
PREFIX_CACHING_ENABLED = gauge(
    "vllm_exporter_prefix_caching_enabled",
    ("server",),
    "1 if the server says that prefix caching is on, 0 if it says that it is off for some engine. "
    "Absent where it does not say.",
)
ENGINE_ASLEEP = gauge(
    "vllm_exporter_engine_asleep",
    ("server", "engine"),
    "1 while the engine sleeps (vLLM's sleep mode), 0 while it is awake. Absent before vLLM 0.12.",
)
CONFIG_RELOAD_SUCCESSFUL = gauge(
    "vllm_exporter_config_last_reload_successful",
    (),
    "1 if --config.file was in order when it was read last, 0 if the one before stays in force.",
)
CONFIG_RELOAD_TIME = gauge(
    "vllm_exporter_config_last_reload_success_timestamp_seconds",
    (),
    "Unix time in seconds at which the --config.file in force was read.",
)
PROBE_SUCCESS = gauge(
    "probe_success", (), "On the page of a probe: 1 if the target's page was read, else 0."
)
PROBE_DURATION = gauge(
    "probe_duration_seconds", (), "On the page of a probe: seconds that it took."
)
COLLECTOR_SUCCESS = gauge(
    "vllm_exporter_collector_success",
    ("collector",),
    "1 if the collector got all that it asked for in this scrape, else 0.",
)
COLLECTOR_DURATION = gauge(
    "vllm_exporter_collector_duration_seconds",
    ("collector",),
    "Seconds that the collector took in this scrape.",
)

EXPORTED: tuple[ExportedMetric, ...] = (
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
    EXTERNAL_PREFIX_CACHE_HIT_RATE,
    MM_CACHE_HIT_RATE,
    KV_CACHE_USAGE,
    GPU_MEMORY_UTILIZATION_LIMIT,
    SERVER_GPU_INFO,
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
    BUILD_INFO,
    UPSTREAM_UP,
    UPSTREAM_STATE,
    UPSTREAM_DURATION,
    UPSTREAM_INFO,
    UPSTREAM_START_TIME,
    UPSTREAM_LAST_SUCCESS,
    UPSTREAM_FAILURES,
    UPSTREAM_PARSE_ERRORS,
    UPSTREAM_COUNTER_RESETS,
    UPSTREAM_EXCESS_HITS,
    PREFIX_CACHING_ENABLED,
    ENGINE_ASLEEP,
    CONFIG_RELOAD_SUCCESSFUL,
    CONFIG_RELOAD_TIME,
    PROBE_SUCCESS,
    PROBE_DURATION,
    COLLECTOR_SUCCESS,
    COLLECTOR_DURATION,
)
"""All exported families, in the order of the documentation."""
