"""What the exporter tells of its own work: fetches of servers' pages, collectors, probes."""

from __future__ import annotations

from exporter.metric import ExportedMetric, counter, gauge

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

METRICS: tuple[ExportedMetric, ...] = (
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
"""All of these, in the order of the documentation."""
